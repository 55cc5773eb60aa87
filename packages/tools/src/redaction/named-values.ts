/** Rules for values that a name, a header, a command or a URL calls secret. Data; all bounded. */
import type { SecretRule, ValueTest } from "./key-forms.ts";
import {
  isAwsSecret,
  isAwsWord,
  isLiteral,
  isMixed,
  isMixedArgument,
  isMixedHeader,
  isMixedOrLong,
  isMixedOrQuoted,
  isMixedUser,
  isNoFile,
} from "./secret-values.ts";

export const namedKind = "secret-value";

const bare = String.raw`([^\s"'\x60\\;&|<>(),]{4,})(?=[\s"'\x60\\;&|<>),]|$)`;

/**
 * Up to where a shell ends a word, which escapes do not; without the mark after a sentence, but
 * with an ellipsis.
 */
const shellWord = String.raw`((?:[^\s"'\x60\\;&|<>()]|\\(?![nrtu"'\\])[^\s]){4,}(?<![,:]|[^.]\.))`;

/** Quotes of JSON within a text are escaped, once or more. */
const quoted = String.raw`[bru]?(?:\\{0,8}"((?:[^"\\\n]+|\\(?!\\*")[^\n])+)|'([^'\n]+)')`;

const quotedOrCode = String.raw`(?:${quoted}|\x60([^\x60\n]+)\x60)`;

/** Quotes end a name in JSON, and marks of Markdown are around it. */
const behindName = String.raw`\\{0,8}["'\x60]?\s{0,3}(?::=?|=>?)\s{0,3}`;

/** `SORT_KEY` and `MAX_TOKEN` are not secrets. */
const noSecret =
  "(?<!(?:PUBLIC|PUB|PRIMARY|FOREIGN|UNIQUE|SORT|PARTITION|CACHE|INDEX|GROUP|ROUTING)[_ -]KEY)" +
  "(?<!(?:MAX|MIN|NUM)_TOKEN)";

/** Ends of names: what is before them in a name does not matter. */
const capitalName =
  `(?:(?:TOKEN|SECRET|KEY|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)${noSecret}|` +
  "(?:_|SSH|PG|DB)(?:PASS|PWD|PW)|_(?:PAT|AUTH))" +
  String.raw`(?:_ID|_B(?:ASE)?64|_BASE|_?\d)?`;

const passwordName = "(?:password|passwd|passphrase|secret|[_-]pass)";

const weakName =
  "(?:password|passwd|passphrase|secret|token|credentials?|[_-]pass|_pwd|_auth|client-key-data|" +
  "(?:api|access|private|secret|auth|account)[_-]?key(?:[_-]?id)?)";

const headerName = "(?:(?:proxy-)?authorization|(?:x-)?(?:api-key|auth-token)|private-token)";

const scheme = String.raw`(?:(?:basic|bearer|digest|negotiate|token|apikey)\s+)?`;

const flag = String.raw`--(?:[\w-]{0,40}-)?`;

/** In a list of words, the value is a string of its own. */
const behindFlag = String.raw`(?:[= ]|",\s{0,20}(?="))`;

/** Words of one command; a backslash continues its line. */
const commandWords = String.raw`(?:[^\n|;\\]|\\[^]){0,300}?\s`;

const pair = String.raw`"(?:[Nn]ame|[Kk]ey)"\s{0,3}:\s{0,3}"[\w.-]*(?:${capitalName}|${weakName})"`;

const pairInYaml =
  String.raw`\bname:[ \t]{1,4}["']?[\w.-]{0,80}(?:${capitalName}|${weakName})["']?` +
  String.raw`[ \t]{0,8}\r?\n[ \t]{0,40}value:[ \t]{1,4}`;

const elementName =
  String.raw`[\w.:-]{0,60}(?:password|passwd|passphrase|secret|token|` +
  "(?:api|access|private|secret)[_-]?key)";

const attributes =
  String.raw`\b(?:key|name)="[\w.:-]{0,80}${weakName}"\s{1,20}` + String.raw`value="([^"\n]{4,})"`;

const netrcLogin = String.raw`login\s{1,9}\S{1,256}\s{1,40}password\s{1,9}`;

const awsSecret = "(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])";

const awsKeyId = "(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9+/])";

const capitalNeedles = [
  "KEY",
  "TOKEN",
  "SECRET",
  "PASS",
  "CREDENTIAL",
  "_PW",
  "SSHPW",
  "PGPW",
  "DBPW",
  "_PAT",
  "_AUTH",
];

const weakNeedles = ["pass", "secret", "token", "credential", "_pwd", "_auth", "key"];

const cookieOf = String.raw`[ \t]*((?=[^\r\n"'\\]{0,200}=)[^\r\n"'\\]{8,})`;

const databases = "(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver)";

export const namedRules: readonly SecretRule[] = [
  rule("url-password", ["://"], String.raw`:\/\/[^\s/:@"'<>\\]{0,256}:([^\s/"'<>\\]{1,256})@`, "g"),
  // Passwords that are not encoded: up to the last sign before the host.
  rule(
    "url-password",
    ["://"],
    String.raw`\b${databases}(?:\+\w{1,20})?:\/\/[^\s/:@"'<>\\]{0,256}:([^\s"'<>\\]{1,256})` +
      String.raw`@(?=[\w.-]{1,256}(?:[:/,?\s"'\x60]|$))`,
    "g",
  ),
  rule("url-password", ["http"], String.raw`\bhttps?:\/\/([\w%.~-]{16,})@`, "g", isMixedUser),
  rule("signature", ["sig="], String.raw`[?&;]sig=([\w%+/=-]{20,})`, "g"),
  rule(
    "authorization",
    ["authorization", "api-key", "auth-token", "private-token"],
    `\\b${headerName}${behindName}["']?${scheme}${bare}`,
    "gi",
    isMixedHeader,
  ),
  rule(
    "authorization",
    ["basic", "bearer"],
    String.raw`\b(?:basic|bearer)\s+([\w.~+/=-]{8,})`,
    "gi",
    isMixedHeader,
  ),
  rule("cookie", ["cookie:"], String.raw`\b(?:set-)?cookie:${cookieOf}`, "gi"),
  rule(
    "cookie",
    ["curl"],
    String.raw`\bcurl\b${commandWords}(?:-b|--cookie)[= ]["']?${cookieOf}`,
    "g",
  ),
  rule(namedKind, capitalNeedles, `${capitalName}=(?:${quotedOrCode}|${shellWord})`, "g", isNoFile),
  rule(
    namedKind,
    ["passw", "pwd=", "passphrase=", "psk="],
    String.raw`(?:passwd|password|pwd|passphrase|\bpsk)=(?:${bare}|"([^"\n]{4,})")`,
    "gi",
    isLiteral,
  ),
  rule(
    namedKind,
    ["password:"],
    String.raw`^[ \t-]*[\w-]{0,60}password: ([^\s"',;{}()[\]]{4,})$`,
    "gim",
  ),
  rule(
    namedKind,
    capitalNeedles,
    `${capitalName}${behindName}(?:${quotedOrCode}|${bare})`,
    "g",
    isMixedOrQuoted,
  ),
  rule(
    namedKind,
    ["passw", "passphrase", "secret", "_pass", "-pass"],
    String.raw`${passwordName}${behindName}[bru]?\\{0,8}["']([^\s"'\\]{4,})`,
    "gi",
  ),
  rule(
    namedKind,
    weakNeedles,
    `${weakName}${behindName}(?:${quotedOrCode}|${bare})`,
    "gi",
    isMixedOrLong,
  ),
  rule(
    namedKind,
    ["**:", ":**"],
    String.raw`\*\*[\w -]{0,40}(?:password|passphrase|secret|token|key):?\*\*:?\s{1,3}` +
      String.raw`(?:\x60([^\x60\n]{4,})\x60|${bare})`,
    "gi",
    isMixedOrQuoted,
  ),
  // A quote before the name: the value may have blanks.
  rule(
    namedKind,
    capitalNeedles,
    String.raw`(?:\s(?:-e|--env|--build-arg|--set|export)[= ]|[[,]\s{0,40})` +
      String.raw`(?:"[A-Z0-9_]{0,60}${capitalName}=([^"\n$]{4,})"|` +
      String.raw`'[A-Z0-9_]{0,60}${capitalName}=([^'\n$]{4,})')`,
    "g",
    isNoFile,
  ),
  rule(
    namedKind,
    ["pass", "-pwd", "token", "secret", "key"],
    `${flag}(?:password|passwd)${behindFlag}(?:${quoted}|${bare})`,
    "g",
  ),
  rule(
    namedKind,
    ["pass", "-pwd", "token", "secret", "key"],
    `${flag}(?:token|secret|key|passphrase|pass|pwd)${behindFlag}(?:${quoted}|${bare})`,
    "g",
    isMixedArgument,
  ),
  ...commandRules(),
  rule(
    namedKind,
    ['alue"'],
    String.raw`${pair}\s{0,20},\s{0,20}"[Vv]alue"\s{0,3}:\s{0,3}(?:${quoted})`,
    "g",
  ),
  rule(namedKind, ["value:"], `${pairInYaml}(?:${quoted}|${shellWord})`, "g"),
  rule(
    namedKind,
    ["password>", "passwd>", "passphrase>"],
    String.raw`<[\w.:-]{0,60}(?:password|passwd|passphrase)>\s{0,9}([^<>\n]{4,256})<\/`,
    "gi",
  ),
  rule(
    namedKind,
    ["name=", "key="],
    String.raw`\b(?:key|name)="[\w.:-]{0,80}${weakName}"[^<>\n]{0,80}>` +
      String.raw`\s{0,9}([^<>\s]{4,256})\s{0,9}<\/`,
    "gi",
    isMixed,
  ),
  // A row of a Markdown table.
  rule(
    namedKind,
    ["password", "passphrase", "secret", "token", "key"],
    String.raw`\|[ \t*\x60]{0,9}[\w -]{0,40}(?:password|passphrase|secret|token|key)` +
      String.raw`[ \t*\x60]{0,40}\|[ \t*\x60]{0,9}([^\s|\x60*]{6,256})`,
    "gi",
    isMixed,
  ),
  // An object, in JSON within a text.
  rule(
    namedKind,
    ["pass", "secret", "token", "credential", "key"],
    String.raw`(?:${weakName})\\{0,8}"\s{0,3}:\s{0,3}\{\s{0,20}\\{0,8}"[\w-]{1,40}\\{0,8}"` +
      String.raw`\s{0,3}:\s{0,3}${quoted}`,
    "gi",
    isMixed,
  ),
  rule(namedKind, ["value="], attributes, "gi"),
  rule(
    namedKind,
    ["password>", "passwd>", "passphrase>", "secret>", "token>", "key>"],
    String.raw`<${elementName}>\s{0,9}([^<>\s]{4,})\s{0,9}<\/`,
    "gi",
  ),
  rule(namedKind, ["auths"], String.raw`"auth\\{0,8}"\s{0,3}:\s{0,3}\\{0,8}"([\w+/=]{8,})`, "g"),
  rule(
    namedKind,
    ["kty"],
    String.raw`"(?:d|dp|dq|k|p|q|qi)\\{0,8}"\s{0,3}:\s{0,3}\\{0,8}"([\w-]{20,})`,
    "g",
  ),
  rule(
    namedKind,
    ["machine"],
    String.raw`\bmachine\s{1,9}\S{1,256}\s{1,40}password\s{1,9}(\S{2,256})\s{1,40}login\s`,
    "g",
  ),
  rule(
    namedKind,
    ["machine", "default login"],
    String.raw`\b(?:machine\s{1,9}\S{1,256}|default)\s{1,40}${netrcLogin}(?:"([^"\n]+)"|(\S{2,}))`,
    "g",
  ),
  rule(
    namedKind,
    [":*:", ":54", ":64"],
    String.raw`:(?:54\d\d|64\d\d|\*):(?:\*|[A-Za-z_][\w-]{0,62}):(?:\*|[A-Za-z_][\w.-]{0,62}):` +
      String.raw`([^\s"'\\]{3,256})`,
    "g",
  ),
  rule(
    "aws-secret-key",
    ["access"],
    String.raw`\bsecret[_ -]?access[_ -]?key(?:[^\n]{0,60}?)${awsSecret}`,
    "gi",
    isAwsWord,
  ),
  rule(
    "aws-secret-key",
    ["AKIA", "ASIA"],
    String.raw`${awsKeyId}[^]{0,200}?${awsSecret}`,
    "g",
    isAwsSecret,
  ),
  rule(
    "aws-secret-key",
    ["AKIA", "ASIA"],
    String.raw`${awsSecret}(?=[^]{0,80}?${awsKeyId})`,
    "g",
    isAwsSecret,
  ),
];

/** Flags of one letter, which are not secrets in other commands. */
function commandRules(): readonly SecretRule[] {
  const value = String.raw`(?:${quoted}|${shellWord})`;
  const login =
    String.raw`(?:"[^\s:"']{1,64}:([^"\n]{3,})"|'[^\s:"']{1,64}:([^'\n]{3,})'|` +
    String.raw`[^\s:"']{1,64}:([^\s"'\\]{3,}))`;
  return [
    rule(namedKind, ["curl"], String.raw`\bcurl\b${commandWords}(?:-u|--user)[= ]?${login}`, "g"),
    rule(
      namedKind,
      [" -u", " --user", "\t-u", "\n-u"],
      String.raw`\s(?:-u|--user)[= ]?${login}`,
      "g",
      isMixed,
    ),
    rule(namedKind, ["http"], String.raw`\bhttps?\b${commandWords}(?:-a|--auth)[= ]${login}`, "g"),
    rule(namedKind, ["redis-cli"], String.raw`\bredis-cli\b${commandWords}-a\s{1,3}${value}`, "g"),
    rule(
      namedKind,
      ["login"],
      String.raw`\b(?:docker|podman|helm|nerdctl|buildah|skopeo|az)\s(?:[\w-]{1,20}\s){0,3}` +
        String.raw`login\b${commandWords}-p[= ]{1,3}${value}`,
      "g",
    ),
    rule(
      namedKind,
      ["sshpass"],
      String.raw`\bsshpass\s{1,9}-p\s{0,3}(?:${quoted}|([^\s"'$-]\S{1,255}))`,
      "g",
    ),
    // Words of their own, as arguments of tools are.
    rule(
      namedKind,
      ['"-a"', '"-p"', '"-u"', '"-b"', '"--user"'],
      String.raw`"(?:redis-cli",[^\]]{0,200}?"-a|sshpass",\s{0,20}"-p|login",[^\]]{0,200}?"-p|` +
        String.raw`curl",[^\]]{0,200}?"(?:-u|--user|-b|--cookie))"\s{0,3},\s{0,20}${quoted}`,
      "g",
    ),
    rule(
      namedKind,
      ["wpa_passphrase"],
      String.raw`\bwpa_passphrase\s{1,3}(?:"[^"\n]{1,40}"|[^\s"=:]{1,40})\s{1,3}${value}`,
      "g",
      isMixed,
    ),
    rule(namedKind, ["_auth"], String.raw`[:\s]_auth(?:Token)?[ \t]{1,3}${value}`, "g", isMixed),
    rule(
      namedKind,
      ["secret set"],
      String.raw`\bsecret set\b${commandWords}(?:-b|--body)[= ]{1,3}${value}`,
      "g",
    ),
  ];
}

function rule(
  kind: string,
  needles: readonly string[],
  pattern: string,
  flags: string,
  isSecret?: ValueTest,
): SecretRule {
  const named = { kind, needles, pattern: new RegExp(pattern, flags) };
  return isSecret === undefined ? named : { ...named, isSecret };
}

/** Whether a member, header or variable of that name holds a secret. */
export function isSecretName(name: string): boolean {
  if (/^[A-Z0-9_]+$/.test(name) && capitals.test(name)) return true;
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return secretNames.test(words.replaceAll(/[-. ]/g, "_"));
}

const capitals = new RegExp(`${capitalName}$`);

const secretNames = new RegExp(
  "(?:^|_)(?:tokens?|secrets?|passwords?|passwd|passphrase|credentials?|authorization|" +
    "(?:set_)?cookie|psk|client_key_data|(?:db|mysql|pg|ssh)_(?:pass|pw|pwd)|^_auth|" +
    "(?:api|access|private|secret|auth|encryption|signing|account)_?keys?(?:_id)?)$",
);
