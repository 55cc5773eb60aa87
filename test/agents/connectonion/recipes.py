"""The recipes of the format, as its document has them: the one that is named, on a file."""

import json
import sys

import yaml

name, path = sys.argv[1:]
with open(path) as f:
    session = yaml.safe_load(f)

if name == "resume":
    messages = [{"role": "system", "content": session['system_prompt']}]
    for turn_num in sorted(session['messages'].keys()):
        messages.extend(session['messages'][turn_num])
    print(json.dumps(messages))

if name == "replay":
    target_turn = 2
    messages = [{"role": "system", "content": session['system_prompt']}]
    for turn_num in range(1, target_turn):
        messages.extend(session['messages'][turn_num])
    target_input = session['turns'][target_turn - 1]['input']
    messages.append({"role": "user", "content": target_input})
    print(json.dumps(messages))

if name == "rewrite":
    with open(path, 'w') as f:
        yaml.dump(session, f, default_flow_style=False, allow_unicode=True, sort_keys=False)
    print(json.dumps(session))
