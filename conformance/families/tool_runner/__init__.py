"""The family tool-runner: the agent loop of a model SDK, whose user may change the state at each step."""
