"""Machine: one node, from its bootstrap data and infrastructure to its Node and its end."""
