/** Commands that end with the verdict of a check, by command: what stays open. They take --accept-undecided. */
export const judgedCommands: Readonly<Record<string, string>> = {
  'chassis address': '`--check-mac` cannot be compared: no entry, a loopback address, through another host',
  'chassis probe': 'the unit of the pose at rest, facts not verified on this chassis, a condition not received',
  'cloud outbox': 'the gateway does not know its outbox yet',
  'cloud status': 'no connection attempt has a result yet',
  doctor:
    'no site file, a clock that nothing synchronises, no gateway or no systemd that answers; completion of the shell never decides',
  'enrol status':
    'the validity under a wrong clock; the region in the name of the broker never decides when the name has none',
  health: 'a part that the gateway has not checked, and its site file configures',
  'heartbeat check': 'the gateway cannot be asked, or another robot is not listed',
  'kiosk plan': 'a setting that the tablet does not report',
  'kiosk setup': 'a setting that the tablet does not report, a port closed by a device that is not identified',
  'kiosk status': 'everything that is remembered, a device that cannot be identified, a silent address',
  'map backup': 'no map; the line about restoring never decides, because no file can show it',
  'map verify': 'no map, or a file that may lack maps; the line about restoring never decides',
  'network check':
    'a needed line that cannot be seen from inside or without `--probe-from`; lines marked optional never decide',
  next: 'a step that cannot be looked at, as a locked tablet, whose state is remembered',
  'operator check': 'routes that need a map or the chassis, and the read-only socket from another machine',
  'overlays inspect': 'a finding `not-checked`, such as without the picture, and a running map that cannot be compared',
  'release inspect': 'the signature, without `--key`',
  'release status': 'a release that has not ended or is not acknowledged, a base installation as the way back',
  'site check': 'not enrolled yet, verifications that only the chassis can confirm',
  status:
    'no gateway answers (exit code 3), a part that is set up and not checked, a value that was not received; clock and tablet never decide',
  'tunnel audit': 'checks without `--cloud`, `--log` or a site file, rotated records, a running session',
};

/** Commands that can end with 1 and take no --accept-undecided, with the reason. */
export const strictCommands: Readonly<Record<string, string>> = {
  'chassis restart': 'an order: a restart that was not observed, or maps not compared, are not accepted',
  'checklist diff': 'compares two records; a step that was ok and is open now is worse',
  'checklist run': 'a step that stays open is accepted one by one, by name, as a deviation',
  'checklist verify': 'a record is verified or not',
  'cloud upload': 'an order',
  demo: 'its robot is simulated, so every step of its checklist has to be ok',
  'evidence verify': 'a trial: a fact that is not decided is not recorded as verified',
  'heartbeat send': 'an order',
  'incident list': 'an incident that could not be kept or read is lost or damaged',
  'kiosk lock': 'an order: a port that is not verified as closed by the tablet itself counts as open',
  'map list': 'an entry that cannot be read is a damaged map',
  'map restore': 'an order',
  'map select': 'an order',
  'map show': 'names what a backup would lack',
  'motion clear': 'an order',
  'motion dock': 'an order that moves the robot',
  'motion go': 'an order that moves the robot',
  'motion pose': 'an order',
  'motion stop': 'an order',
  'overlays diff': 'two maps are the same or not',
  'replace chassis': 'a step that gw cannot see is the word of a person, by name',
  'replace gateway': 'a step that gw cannot see is the word of a person, by name',
  'replace tablet': 'a step that gw cannot see is the word of a person, by name',
  'sim cloud release': 'an order',
  'sim tunnel browse': 'an order',
  'tour run': 'an order that moves the robot',
  'tunnel end': 'an order',
  'tunnel proxy': 'its exit codes are those of the connection',
};

/** The section of the command reference, as Markdown. */
export function describeVerdicts(): string {
  const rows = (commands: Readonly<Record<string, string>>) =>
    Object.entries(commands).map(([command, text]) => `| \`gw ${command}\` | ${text} |`);
  return [
    '## Verdicts and exit codes',
    '',
    'One rule for every command that checks. Each line has one verdict:',
    '',
    '| verdict | shown | meaning | exit code | `--json` | JUnit |',
    '| --- | --- | --- | --- | --- | --- |',
    '| `ok` | `ok` | looked at now, and as it should be | 0 | `ok: true` | passed |',
    '| `wrong` | `FAIL` | looked at now, and not as it should be | 1 | `ok: false` | failure, or error when the check could not run |',
    '| `not-checked` | `--` | could not be looked at, or is remembered | 1, or 0 with `--accept-undecided` | `ok: false` | error `NOT_CHECKED` |',
    '| `not-decided` | `--` | looked at, and the answer is open | 1, or 0 with `--accept-undecided` | `ok: false` | error `NOT_CHECKED` |',
    '| `not-applicable` | `n/a` | does not concern this machine, by its site file | 0 | `ok: true` | none |',
    '',
    'The worst line decides: wrong, then not checked or not decided, then ok. Lines marked optional do not decide, and a check',
    'without one line that is ok has checked nothing and is not ok. With `--accept-undecided` the verdict in `data` stays as it is,',
    '`ok` is true, and a warning says so; what is wrong is never accepted. In a checklist, `skipped` is a step that waits for another one',
    'or was left out by `--only` or `--from`; JUnit shows both as skipped, beside the failure or error of the step they wait for.',
    'A site file without a section, such as `tablet`, is valid: `gw site check` names what it is not complete for, and ends with 0.',
    '',
    '| checks | open, among others |',
    '| --- | --- |',
    ...rows(judgedCommands),
    '',
    'These end with 1 (or the code that they name) and take no `--accept-undecided`; the remaining commands list or show, and end with 0.',
    '',
    '| command | why |',
    '| --- | --- |',
    ...rows(strictCommands),
    '',
  ].join('\n');
}
