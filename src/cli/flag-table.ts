/** A flag of several commands: the word for its value in the help, and what it means in each of them. */
interface SharedFlag {
  /** null: it has no value. */
  readonly value: string | null;
  readonly meaning: string;
}

/** Every flag that more than one command takes, beside those of every command. */
export const sharedFlags: Readonly<Record<string, SharedFlag>> = {
  'accept-undecided': { value: null, meaning: 'exit with 0 although something was not checked or not decided' },
  adb: { value: 'FILE', meaning: 'the adb program' },
  'after-restart': { value: null, meaning: 'restart the tablet, and verify afterwards' },
  all: { value: null, meaning: 'every row of long tables' },
  'although-alert': { value: 'CODE', meaning: 'drive although the robot reports this alert' },
  backup: { value: 'FILE', meaning: 'a backup of the maps of the chassis' },
  'ca-file': { value: 'FILE', meaning: 'CA certificates (PEM) that are trusted' },
  'chassis-host': { value: 'HOST', meaning: 'address of the chassis' },
  'chassis-port': { value: 'PORT', meaning: 'TCP port of the chassis' },
  'code-env': { value: 'NAME', meaning: 'the one-time code, in this environment variable' },
  'code-file': { value: 'FILE', meaning: 'the one-time code, in the first line of a file of its owner alone' },
  confirm: { value: 'STEP', meaning: 'a person confirms this step, which gw cannot see' },
  dir: { value: 'DIR', meaning: 'folder of a simulated robot' },
  'dry-run': { value: null, meaning: 'say what would be done, and do nothing' },
  file: { value: 'FILE', meaning: 'what the command reads instead of its usual source' },
  for: { value: 'DURATION', meaning: 'how long it goes on: listening, watching, sending, an open tunnel' },
  force: { value: null, meaning: 'replace an existing file' },
  format: { value: 'FORMAT', meaning: 'format of a document; by default that of the name of `--out`' },
  host: { value: 'HOST', meaning: 'the gateway, whose operator server is asked' },
  key: { value: 'FILE', meaning: 'the public key (PEM) that signs releases' },
  lang: { value: 'de|en', meaning: 'language of a document' },
  'leave-running': { value: null, meaning: 'the robot continues when the command is interrupted or lost' },
  limit: { value: 'N', meaning: 'at most so many, the newest' },
  live: { value: null, meaning: 'query the chassis too' },
  mac: { value: 'MAC', meaning: 'MAC address of the chassis' },
  map: { value: 'ID', meaning: 'only this map' },
  mark: { value: 'BELEGT|HINWEIS|VORSICHT|OFFEN', meaning: 'only what has this mark' },
  'no-pager': { value: null, meaning: 'a long result is printed without a pager' },
  old: { value: 'SERIAL', meaning: 'serial number of the part that is replaced' },
  'operator-port': { value: 'PORT', meaning: 'TCP port of the operator server' },
  out: { value: 'FILE', meaning: 'the file that is written' },
  'passphrase-file': { value: 'FILE', meaning: 'the passphrase, in the first line of a file of its owner alone' },
  'password-file': { value: 'FILE', meaning: 'the device password, in the first line of a file of its owner alone' },
  'probe-from': { value: 'USER@HOST[:PORT]', meaning: 'probe the robot also from this host, over SSH' },
  reason: { value: 'TEXT', meaning: 'the reason of a stop, for the people on site' },
  region: { value: 'REGION', meaning: 'region of a tunnel' },
  'robot-stands-still': { value: null, meaning: 'a person sees that the robot stands, where its poses do not show it' },
  'robot-will-move': { value: null, meaning: 'a person confirms that the way is clear and the robot may move' },
  serial: { value: 'SERIAL', meaning: 'serial number of the robot' },
  service: { value: 'NAME', meaning: 'service of a tunnel' },
  site: { value: 'FILE', meaning: 'the site file' },
  subprotocol: { value: 'NAME', meaning: 'WebSocket subprotocol of the tunnel service' },
  timeout: { value: 'DURATION', meaning: 'how long something may take before the command gives up' },
  'tunnel-host': { value: 'HOST', meaning: 'the tunnel service' },
  'tunnel-port': { value: 'PORT', meaning: 'TCP port of the tunnel service' },
  usb: { value: null, meaning: 'connect to the tablet over USB' },
  via: { value: 'USER@HOST[:PORT]', meaning: 'through this SSH host' },
  wait: { value: null, meaning: 'wait for the end of what was started' },
  who: { value: 'NAME', meaning: 'the person, by name' },
  'without-secrets': { value: null, meaning: 'identity, keys and passwords are left out' },
  'write-although-never-measured': {
    value: null,
    meaning: 'write maps, although that was never measured on a real chassis',
  },
  yes: { value: null, meaning: 'do it without a question' },
};

/** The table in docs/commands.md. */
export function describeSharedFlags(): string {
  const rows = Object.entries(sharedFlags).map(([name, { value, meaning }]) => {
    const words = value === null ? `--${name}` : `--${name} ${value.replaceAll('|', '\\|')}`;
    return `| \`${words}\` | ${meaning} |`;
  });
  return [
    '## Flags of several commands',
    '',
    'One name has one meaning, and one meaning one name. A duration is a number of seconds, or has a unit: `90`, `90s`, `1.5m`,',
    '`2h`. What each command does with a flag stands below its name.',
    '',
    '| flag | meaning |',
    '| --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
