"""ClusterResourceSets: manifests that are applied to every cluster that a selector chooses."""
