"""The family message-loop: turns of six stages, hooks, an authority stack, stage executions, events."""
