"""Chapters of page Learn, one module each, imported automatically.

A chapter is data and one function:

- TITLE, and ORDER (any number: a new one goes between two);
- QUESTION, its CHOICES, and ANSWER, the place of the right one: asked before anything is shown;
- REVEAL: why it is right at every ε, in one or two sentences;
- ``at_epsilon(epsilon)``, if ε decides how much that is: one sentence more on this ε;
- DO (the one thing to do), TAKEAWAY (one sentence), FORMULA (the same in symbols), SOURCE;
- NOISE = False where the chapter has none to draw anew;
- ``body(room)``: the map, then what is revealed beside it.
"""
