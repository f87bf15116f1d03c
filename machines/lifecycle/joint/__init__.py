"""The joint charts explored: every state that they can be in together, and what the clauses say of each."""
