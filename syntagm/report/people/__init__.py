"""The chapter on runs of people, alone or beside models."""
