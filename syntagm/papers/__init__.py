"""Papers, reproduced: one file a paper, which reads like its method section."""
