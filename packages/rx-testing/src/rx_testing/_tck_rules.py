"""The rules of Reactive Streams, each in one line of our own, for the messages of the TCK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Every rule of §1–§4, by its number.
RULES: Final[Mapping[str, str]] = {
    "1.1": "a publisher sends no more items than its subscriber has requested so far",
    "1.2": "a publisher may send fewer items than requested, and then ends with on_complete or on_error",
    "1.3": "on_subscribe, on_next, on_error and on_complete come one after the other, never at the same time",
    "1.4": "a publisher that fails says so with on_error",
    "1.5": "a finite stream that ends well ends with on_complete",
    "1.6": "after on_error or on_complete the subscription counts as cancelled",
    "1.7": "after on_error or on_complete comes nothing more",
    "1.8": "a cancelled subscription stops being signalled, at some time",
    "1.9": "subscribe calls on_subscribe before anything else and returns normally; only for None it raises TypeError",
    "1.10": "subscribe may be called as often as wanted, each time with another subscriber",
    "1.11": "a publisher may have several subscribers, and decides whether it is unicast or multicast",
    "2.1": "a subscriber gets items only by requesting them",
    "2.2": "a subscriber that is slow should dispatch its signals asynchronously",
    "2.3": "on_complete and on_error call no method of the subscription or of the publisher",
    "2.4": "after on_complete or on_error the subscription counts as cancelled",
    "2.5": "a subscriber that has a subscription cancels any further one it is given",
    "2.6": "a subscriber cancels a subscription that it does not need any more",
    "2.7": "a subscriber calls its subscription serially",
    "2.8": "a subscriber is prepared for items after it has cancelled",
    "2.9": "a subscriber is prepared for on_complete, whether or not it has requested",
    "2.10": "a subscriber is prepared for on_error, whether or not it has requested",
    "2.11": "a signal happens before it is processed",
    "2.12": "on_subscribe is called at most once for a subscriber",
    "2.13": "the methods of a subscriber return normally; only for None they raise TypeError. None is no item",
    "3.1": "a subscription is used only by its subscriber",
    "3.2": "a subscriber may call request from inside on_subscribe and on_next",
    "3.3": "request bounds the recursion between publisher and subscriber",
    "3.4": "request returns soon",
    "3.5": "cancel returns soon, may be repeated, and is thread-safe",
    "3.6": "after cancel, request does nothing",
    "3.7": "after cancel, cancel does nothing",
    "3.8": "request(n) adds n items to the demand",
    "3.9": "request(n) with n < 1 is answered with on_error(ValueError), whose text refers to this rule",
    "3.10": "request may call on_next synchronously",
    "3.11": "request may call on_complete or on_error synchronously",
    "3.12": "cancel makes the publisher stop, at some time",
    "3.13": "cancel makes the publisher forget the subscriber, at some time",
    "3.14": "cancel of the last subscription may shut a stateful publisher down",
    "3.15": "cancel returns normally",
    "3.16": "request returns normally",
    "3.17": "any number of requests, and a demand of up to 2**63 - 1, are supported",
    "4.1": "a processor is both a subscriber and a publisher and keeps the rules of both",
    "4.2": "a processor may recover from an error; otherwise it passes it on at once",
}
