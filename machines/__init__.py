"""The charts of the agent run lifecycle, and a runtime made of them."""
