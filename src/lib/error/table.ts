/** How a command ends, by what the error says about the world. Decision of ours, see docs/decisions.md. */
export const exitCodes = {
  ok: 0,
  checkFailed: 1,
  usage: 2,
  notReachable: 3,
  refused: 4,
  internal: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface ErrorRow {
  /** What it means, in one line; the message of a concrete error says more. */
  readonly title: string;
  /** What to do next when the place that raised the error knew nothing better. */
  readonly remedy: string;
  readonly exit: ExitCode;
}

const row = (exit: ExitCode, title: string, remedy: string): ErrorRow => ({ title, remedy, exit });

/** Every error code of gw. docs/errors.md is this table as a page; a test walks both ways. */
export const errorTable = {
  // Usage and the site file
  USAGE: row(exitCodes.usage, 'The command line is not understood.', 'See the command with --help.'),
  SITE_FILE_NOT_FOUND: row(
    exitCodes.usage,
    'There is no site file at this place.',
    'Name it with --site FILE, or make one with `gw site init`.',
  ),
  SITE_FILE_INVALID: row(
    exitCodes.usage,
    'The site file does not say what it must.',
    'Mend the lines named above, then run `gw site check`.',
  ),
  SECRET_UNREADABLE: row(
    exitCodes.usage,
    'A secret that the site file names cannot be used.',
    'Make the file readable for its owner only: chmod 600 FILE.',
  ),
  EVIDENCE_UNKNOWN: row(
    exitCodes.usage,
    'The ledger holds no fact with this id.',
    'List the ids with `gw evidence list`.',
  ),
  EVIDENCE_FILE_INVALID: row(
    exitCodes.usage,
    'The evidence file of this site cannot be read.',
    'Mend the line named above; no record is used until the whole file is sound.',
  ),
  CHECKLIST_INVALID: row(
    exitCodes.usage,
    'The checklist file does not say what it must.',
    'Mend the lines named above, then run `gw checklist show FILE`.',
  ),
  CHECKLIST_UNKNOWN: row(
    exitCodes.usage,
    'There is no checklist of this name.',
    'List the names with `gw checklist list`, or name a file.',
  ),
  ANSWERS_INVALID: row(
    exitCodes.usage,
    'The file of answers does not fit the checklist.',
    'Mend the lines named above; `gw checklist show NAME` prints the questions and their ids.',
  ),
  FILE_EXISTS: row(exitCodes.usage, 'The file is there already.', 'Name another file, or pass --force to replace it.'),
  FILE_UNWRITABLE: row(
    exitCodes.usage,
    'A file could not be read or written.',
    'Check that the folder exists, has room, and belongs to you.',
  ),

  OVERLAYS_INVALID: row(
    exitCodes.usage,
    'These are no drawings of a map.',
    'Name a file that holds a GeoJSON FeatureCollection, a map object of the chassis, or a backup of gw.',
  ),
  MAP_UNKNOWN: row(exitCodes.usage, 'There is no such map.', 'List the maps with `gw map list`.'),
  ARCHIVE_INVALID: row(
    exitCodes.usage,
    'The backup is damaged, or it is none.',
    'Do not rely on it: take a new one with `gw map backup`, and check it with `gw map verify`.',
  ),

  // Reaching things
  CHASSIS_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: the chassis does not answer.',
    'Run `gw chassis address` to see what kind of failure it is; check power, network segment and the DHCP reservation.',
  ),
  CHASSIS_BOOTING: row(
    exitCodes.notReachable,
    'The chassis is still starting.',
    'Wait until its start is complete; `gw chassis watch` shows the progress.',
  ),
  CHASSIS_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Something answers at the chassis address, but not as a chassis does.',
    'Check that address and port belong to the chassis and not to another device or a proxy.',
  ),
  OPERATOR_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'The operator server does not answer.',
    'Check that `gw serve` is running on this gateway.',
  ),
  SIM_NOT_RUNNING: row(exitCodes.notReachable, 'No simulated robot is running there.', 'Start one with `gw sim`.'),
  PEER_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'A configured device does not answer.',
    'Check the address in the site file and the power of the device.',
  ),

  // Refusals, by a peer or by a rule of ours
  CHASSIS_WRONG_DEVICE: row(
    exitCodes.refused,
    'Another chassis answers at this address.',
    'Check chassis.serial and chassis.host in the site file, and the DHCP reservation of this chassis.',
  ),
  CHASSIS_REFUSED: row(
    exitCodes.refused,
    'The chassis refused the request.',
    'Read the answer of the chassis above; it names the reason as far as the chassis tells it.',
  ),
  MOTION_REFUSED: row(
    exitCodes.refused,
    'The gate before all movement refused this order.',
    'Read the reasons above; each names the fact or the state that is missing.',
  ),
  MOTION_STOPPED: row(
    exitCodes.refused,
    'The robot is stopped, and the stop is latched.',
    'Make sure that it is safe; then a signed-in person on site clears the stop.',
  ),
  TOUR_UNKNOWN: row(exitCodes.refused, 'No tour has this name.', 'Name a tour that stands in the site file.'),
  TOUR_RUNNING: row(exitCodes.refused, 'A tour is under way.', 'Wait for its end, or stop it first.'),
  RISK_NOT_ACCEPTED: row(
    exitCodes.refused,
    'This is a risk that somebody must take by name, and nobody has.',
    'Read what may happen, then name the risk with the flag shown above.',
  ),
  ARCHIVE_FOREIGN: row(
    exitCodes.refused,
    'The backup belongs to another chassis.',
    'Use a backup of this very chassis: the serial number stands in `gw map verify FILE`.',
  ),
  BACKUP_OUTDATED: row(
    exitCodes.refused,
    'The backup does not hold what the chassis holds now.',
    'Take a new one with `gw map backup`, then try again.',
  ),
  CHASSIS_MOVING: row(
    exitCodes.refused,
    'The robot is moving, or nobody knows whether it stands still.',
    'Let it come to a stop first, then try again.',
  ),
  SIM_RUNNING: row(
    exitCodes.refused,
    'A simulated robot is running in this folder.',
    'End that one first, or name another folder with --dir.',
  ),
  PORT_IN_USE: row(
    exitCodes.refused,
    'The port is taken by another program.',
    'Find the program with `ss -ltnp`, end it, then start again.',
  ),
  PORT_UNUSABLE: row(
    exitCodes.refused,
    'The operating system does not open this port for us.',
    'Choose a port that this user may open: operator.port in the site file.',
  ),
  NOT_SIGNED_IN: row(exitCodes.refused, 'This needs a signed-in person.', 'Sign in with the device password first.'),
  SIGN_IN_FAILED: row(exitCodes.refused, 'The password is wrong.', 'Try again with the device password.'),

  // Outcomes and ourselves
  CHECK_FAILED: row(exitCodes.checkFailed, 'A check found something wrong.', 'Read the failed lines above.'),
  PART_ENDED: row(
    exitCodes.checkFailed,
    'A program that gw started did not get ready or ended by itself.',
    'Read its last lines above, and its whole log.',
  ),
  WRITE_DIFFERS: row(
    exitCodes.checkFailed,
    'What the chassis holds after the write is not what was sent.',
    'Keep both backups, change nothing more, and read above whether the old state is back.',
  ),
  INTERRUPTED: row(exitCodes.interrupted, 'Interrupted.', 'Run the command again when you are ready.'),
  INTERNAL: row(
    exitCodes.internal,
    'gw met a bug of its own.',
    'Run again with GW_DEBUG=1 for the stack, and report both.',
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;
