"""The joint charts of the tool runner: what an iteration, its response and its calls can be in together."""
