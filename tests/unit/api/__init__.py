"""The models of the kinds."""
