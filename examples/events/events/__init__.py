"""A web server whose endpoints stream events from a Flowable, and a client that reads them as one."""
