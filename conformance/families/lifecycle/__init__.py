"""The family lifecycle: runs, tool calls, decisions, checkpoints, recovery."""
