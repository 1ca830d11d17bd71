"""Which MachineDrainRule decides about a Pod. Pure.

Rules of the Machine's namespace apply in the order of their names; the first that chooses the
Machine and the Pod wins. Source: MachineDrainRule, and the drain label that overrides it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from capi_core.api.cluster import Cluster
from capi_core.api.machine import Machine
from capi_core.api.machinedrainrule import DrainRulePodSelector, MachineDrainRule
from capi_core.api.meta import JsonObject
from capi_core.api.shared import LabelSelector
from capi_core.contract.selectors import selects

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DrainRules:
    """The rules for one Machine, with what is needed to apply them to Pods.

    Attributes:
        namespaces: labels of the workload cluster's namespaces, by name.
    """

    rules: Sequence[MachineDrainRule] = ()
    namespaces: Mapping[str, Labels] | None = None

    @property
    def look_at_namespaces(self) -> bool:
        """Whether a rule chooses Pods by the labels of their namespaces."""
        return any(
            pods.namespace_selector is not None for rule in self.rules for pods in rule.spec.pods
        )

    def of(self, pod: JsonObject) -> MachineDrainRule | None:
        """The rule that decides about ``pod``, None when the default does."""
        meta = pod["metadata"]
        space = (self.namespaces or {}).get(meta["namespace"], {})
        for rule in self.rules:
            chosen = not rule.spec.pods or any(
                _chooses_pod(selector, meta.get("labels") or {}, space)
                for selector in rule.spec.pods
            )
            if chosen:
                return rule
        return None


def rules_for(
    machine: Machine, cluster: Cluster | None, rules: Sequence[MachineDrainRule]
) -> DrainRules:
    """The rules that choose ``machine``, in the order in which they apply."""
    labels = cluster.metadata.labels if cluster is not None else {}
    chosen = [
        rule
        for rule in rules
        if not rule.spec.machines
        or any(
            _holds(selector.selector, machine.metadata.labels)
            and _holds(selector.cluster_selector, labels)
            for selector in rule.spec.machines
        )
    ]
    return DrainRules(sorted(chosen, key=lambda rule: rule.name))


def _chooses_pod(selector: DrainRulePodSelector, labels: Labels, namespace: Labels) -> bool:
    return _holds(selector.selector, labels) and _holds(selector.namespace_selector, namespace)


def _holds(selector: LabelSelector | None, labels: Labels) -> bool:
    """A selector that is not given chooses everything, as an empty one does."""
    return selector is None or selects(selector, labels)
