"""The Docker infrastructure provider of Cluster API, and what runs it on a laptop."""
