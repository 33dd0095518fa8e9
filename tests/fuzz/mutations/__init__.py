"""Mutated test inputs through headrace-opt and headrace-compile, and what must hold.

Whatever the input, a tool ends in 20 seconds with exit code 0 or 1, and with 1
it says why in one error line; never a traceback, an exception of Python, a
crash, or half an output.

``mutate``: texts and bytes changed. ``cases``: what is run, made of the tests' own files.
``runs``: cases in child processes, by ``isolation``. ``verdicts``: how they ended.
``reduction``: a faulty case made small.
"""
