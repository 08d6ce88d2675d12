"""Words cost four bits a letter: as a class for `python:`, as a program for `exec:`."""

import json
import re
import sys


class Letters:
    name, fingerprint, sees, exact, bos, eos = "letters", "four bits", "left", True, "the beginning", None

    def score(self, texts):
        return [self.answer(re.findall(r"\s*\S+", text)) for text in texts]

    def answer(self, tokens):
        starts = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
        return {"starts": starts, "bits": [4.0 * len(token.strip()) for token in tokens]}


if __name__ == "__main__":
    model = Letters()
    hello = {key: getattr(model, key) for key in ("name", "fingerprint", "sees", "exact", "bos", "eos")}
    for line in sys.stdin:
        request = json.loads(line)
        answer = hello if request["do"] == "hello" else {"answers": model.score(request["texts"])}
        print(json.dumps({"id": request["id"], **answer}), flush=True)
