"""Voices: whose words each line of a message is.

A message may hold words that are not the person's own: a pasted letter, a mail, a chat, a text to be worked on, a part
that is played. `chats`, `letters` and `requests` know their forms, `stretches` where such words begin and how far they
go. The rest is the person's own voice, before and behind them.
"""
