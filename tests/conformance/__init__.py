"""The CRDs compared with fact tables extracted from upstream's CRDs of v1.14."""
