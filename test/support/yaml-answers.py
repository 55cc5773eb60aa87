"""What Python and PyYAML make of values: the answer that is named, to what comes as JSON."""

import json
import math
import sys

import yaml


def loaded(text):
    return yaml.safe_load(text)


def held(text):
    """As we hold it: a whole number that no double holds is a text."""

    def exact(value):
        if isinstance(value, dict):
            return {key: exact(one) for key, one in value.items()}
        if isinstance(value, list):
            return [exact(one) for one in value]
        return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value

    return exact(yaml.safe_load(text))


def plain(text):
    """A scalar without quotes; "beyond" is what JSON cannot say."""
    value = yaml.safe_load("- " + text)[0]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else "beyond"
    return value if isinstance(value, float) and math.isfinite(value) else "beyond"


def is_read(text):
    try:
        yaml.safe_load(text)
    except yaml.YAMLError:
        return False
    return True


def rounded(cost):
    return round(float(cost), 4)


def with_numbers(document):
    messages = document.get("messages")
    if messages is not None:
        document["messages"] = {int(key): value for key, value in messages.items()}
    return document


def dumped(document):
    """As ConnectOnion writes it."""
    options = {"default_flow_style": False, "allow_unicode": True, "sort_keys": False}
    return yaml.dump(with_numbers(document), **options)


def dumped_in_flow(document, width):
    """With its turns and messages in brackets."""
    options = {"allow_unicode": True, "sort_keys": False, "width": width}
    flow = {key: value for key, value in with_numbers(document).items() if key in ("turns", "messages")}
    head = {key: value for key, value in document.items() if key not in flow}
    parts = [yaml.dump(head, default_flow_style=False, **options)]
    for key, value in flow.items():
        parts.append(key + ": " + yaml.dump(value, default_flow_style=True, **options))
    return "".join(parts)


def dumped_in_flows(documents):
    return [dumped_in_flow(one, 30 if at % 2 else 1000000) for at, one in enumerate(documents)]


if __name__ == "__main__":
    values = json.load(sys.stdin)
    if sys.argv[1] == "dumped_in_flows":
        print(json.dumps(dumped_in_flows(values)))
    else:
        print(json.dumps([globals()[sys.argv[1]](value) for value in values]))
