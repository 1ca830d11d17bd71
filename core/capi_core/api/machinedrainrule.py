"""The MachineDrainRule."""

from typing import Annotated, ClassVar

from pydantic import Field

from capi_core.api.meta import KubeObject, Model, NonEmpty, ObjectMeta, Resource
from capi_core.api.schema import AGE, Column, Definition, Rule, Schema
from capi_core.api.shared import LabelSelector

DISTINCT = Rule("self.all(x, self.exists_one(y, x == y))", "entries must be distinct")


class DrainBehavior(Model):
    """What happens with the chosen pods."""

    behavior: Annotated[
        str,
        Schema(
            "Evict the pods, leave them alone, or wait until they are done.",
            required=True,
            enum=("Drain", "Skip", "WaitCompleted"),
        ),
    ] = ""
    order: Annotated[int | None, Schema("Pods of lower order are drained first.")] = None


class DrainRuleMachineSelector(NonEmpty):
    """Chooses machines."""

    cluster_selector: Annotated[
        LabelSelector | None, Schema("Chooses machines by their cluster's labels.")
    ] = None
    selector: Annotated[LabelSelector | None, Schema("Chooses machines by their labels.")] = None


class DrainRulePodSelector(NonEmpty):
    """Chooses pods."""

    namespace_selector: Annotated[
        LabelSelector | None, Schema("Chooses pods by their namespace's labels.")
    ] = None
    selector: Annotated[LabelSelector | None, Schema("Chooses pods by their labels.")] = None


class MachineDrainRuleSpec(Model):
    """The rule as wanted."""

    drain: Annotated[DrainBehavior, Schema("What happens with the pods.", required=True)] = Field(
        default_factory=DrainBehavior
    )
    machines: Annotated[
        list[DrainRuleMachineSelector],
        Schema(
            "Machines that the rule is for; all in the namespace when unset.",
            items=(1, 32),
            atomic=True,
            rules=(DISTINCT,),
        ),
    ] = Field(default_factory=list)
    pods: Annotated[
        list[DrainRulePodSelector],
        Schema(
            "Pods that the rule is for; all when unset.",
            items=(1, 32),
            atomic=True,
            rules=(DISTINCT,),
        ),
    ] = Field(default_factory=list)


class MachineDrainRule(KubeObject):
    """How the pods of a machine are treated when its node is drained."""

    resource: ClassVar[Resource] = Resource(
        "cluster.x-k8s.io", "v1beta2", "MachineDrainRule", "machinedrainrules"
    )
    definition: ClassVar[Definition] = Definition(
        provider="cluster-api",
        columns=(
            Column("Behavior", ".spec.drain.behavior"),
            Column("Order", ".spec.drain.order"),
            AGE,
        ),
    )

    metadata: Annotated[ObjectMeta, Schema(required=True)] = Field(default_factory=ObjectMeta)
    spec: Annotated[MachineDrainRuleSpec, Schema(required=True)] = Field(
        default_factory=MachineDrainRuleSpec
    )
