"""The HTTP door: each endpoint reads a request, calls one service in a thread, and renders what comes back.

`app` puts it together, `guard` lets nobody in without a token, `identify` says whose request it is, `problem` renders every
error; the endpoints live in modules by subject. FastAPI and uvicorn are imported here and nowhere else.
"""
