"""The TCK: one test for each rule of Reactive Streams, for publishers, subscribers and processors of any library.

For operators :class:`OperatorVerification`: what they send their sources before, inside and after the sources' own end.
The same for micro-fusion: :class:`FusedPublisherVerification` and :class:`FusedConsumerVerification`.
Subclass a verification in any pytest suite; :func:`verify` runs one without pytest's collection.
"""

from rx_testing._recorded_calls import RuleViolation
from rx_testing._tck_consumer import FusedConsumerVerification
from rx_testing._tck_fusion import FusedPublisherVerification
from rx_testing._tck_operator import OperatorVerification, TwoSourceOperatorVerification
from rx_testing._tck_processor import IdentityProcessorVerification
from rx_testing._tck_publisher import PublisherVerification
from rx_testing._tck_queue import FUSION_RULES
from rx_testing._tck_rules import RULES
from rx_testing._tck_run import TckResult, rule_tests, verify
from rx_testing._tck_subscriber import SubscriberBlackboxVerification, WhiteboxProbe
from rx_testing._tck_whitebox import SubscriberWhiteboxVerification

__all__ = [
    "FUSION_RULES",
    "RULES",
    "FusedConsumerVerification",
    "FusedPublisherVerification",
    "IdentityProcessorVerification",
    "OperatorVerification",
    "PublisherVerification",
    "RuleViolation",
    "SubscriberBlackboxVerification",
    "SubscriberWhiteboxVerification",
    "TckResult",
    "TwoSourceOperatorVerification",
    "WhiteboxProbe",
    "rule_tests",
    "verify",
]
