"""An import, step by step: stage what the files say, match it with what is stored, check it, apply it."""
