"""Recording a turn of conversation and learning from it; the second look at it by a language model, if one is configured."""
