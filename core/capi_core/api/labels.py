"""Labels and annotations of Cluster API by which its controllers know each other's objects."""

CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name"
CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
DEPLOYMENT_NAME_LABEL = "cluster.x-k8s.io/deployment-name"
SET_NAME_LABEL = "cluster.x-k8s.io/set-name"
PAUSED_ANNOTATION = "cluster.x-k8s.io/paused"
REMEDIATE_ANNOTATION = "cluster.x-k8s.io/remediate-machine"
