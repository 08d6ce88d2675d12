"""The program that runs a Python file's class and answers for it. It needs nothing but the standard library.

    python serve.py FILE.py KEY ...

The keys are the attributes of the class that describe the model. What the class prints goes to standard error.
"""

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def main(file: str, keys: Sequence[str]) -> int:
    """Answer the requests on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # As for a script: the modules beside the file can be imported, those beside this one can't.
    sys.path[0] = str(Path(file).parent)
    model = _model(file)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = answer(model, request, keys)
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"id": request["id"], **reply}, default=plain), file=answers, flush=True)
    return 0


def _model(file: str) -> Any:
    spec = importlib.util.spec_from_file_location("syntagm_model", file)
    if spec is None or spec.loader is None:
        sys.exit(f"{file}: not a Python file; expected a name that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == spec.name and callable(getattr(value, "score", None))
    ]
    if len(classes) != 1:
        names = ", ".join(found.__name__ for found in classes) or "none"
        sys.exit(f"{file}: classes with the method score: {names}; expected one")
    return classes[0]()


def answer(model: Any, request: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    match request["do"]:
        case "hello":
            return {key: getattr(model, key) for key in keys if hasattr(model, key)}
        case "score":
            return {"answers": [*model.score(request["texts"])]}
        case "fill":
            return {"answers": [*model.fill(request["gaps"])]}
    raise ValueError(f"no such request: {request['do']}")


def plain(value: Any) -> Any:
    """Return the lists and numbers in an array or a tensor."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__}; expected lists, numbers and texts")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
