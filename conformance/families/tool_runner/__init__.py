"""The family tool-runner: the loop that a model SDK gives its user, who may change the state at each step."""
