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
  STEP_UNKNOWN: row(
    exitCodes.usage,
    'The checklist has no step or section of this name.',
    'Print the ids with `gw checklist show NAME`.',
  ),
  ATTACHMENT_INVALID: row(
    exitCodes.usage,
    'The photo cannot be attached.',
    'Name a picture file (JPEG, PNG, WebP or HEIC) of at most 20 MiB that you may read.',
  ),
  NOTHING_TO_RESUME: row(
    exitCodes.usage,
    'There is no run of this checklist to go on with.',
    'Begin one without --resume.',
  ),
  JOURNAL_BROKEN: row(
    exitCodes.usage,
    'The journal of the interrupted run cannot be read.',
    'Begin a new run without --resume; the journal stays where it is, for whoever wants to look at it.',
  ),
  RECORD_INVALID: row(
    exitCodes.usage,
    'Not an acceptance record.',
    'Name the JSON file that `gw checklist run` wrote; `gw checklist verify FILE` says what is wrong with this one.',
  ),
  FILE_EXISTS: row(exitCodes.usage, 'The file is there already.', 'Name another file, or pass --force to replace it.'),
  FILE_UNWRITABLE: row(
    exitCodes.usage,
    'File cannot be written.',
    'Check that the folder exists, has room, and belongs to you.',
  ),
  FILE_UNREADABLE: row(
    exitCodes.usage,
    'File cannot be read.',
    'Make it readable for the user that runs gw, or name another file.',
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

  KIOSK_PROFILE_INVALID: row(
    exitCodes.usage,
    'The kiosk profile does not say what it must.',
    'Mend the lines named above; docs/kiosk.md describes every key.',
  ),
  KIOSK_PACKAGE_DIFFERS: row(
    exitCodes.usage,
    'The package file is not the one that the kiosk profile names.',
    'Take the file that belongs to the profile, or write the SHA-256 of this one into it when you trust it.',
  ),
  ADB_NOT_FOUND: row(
    exitCodes.usage,
    'The program adb is not on this machine.',
    'Install it (Debian: apt install adb), or name it with --adb FILE.',
  ),

  SSH_CONFIG_INVALID: row(
    exitCodes.usage,
    'The configuration of SSH says something that cannot be followed.',
    'Mend the line named above in ~/.ssh/config; `ssh -G HOST` shows what OpenSSH makes of it.',
  ),
  NEEDS_GATEWAY: row(
    exitCodes.usage,
    'This looks at the gateway itself, and cannot be done from another machine.',
    'Run it on the gateway, or leave this step to a run there: ssh USER@HOST, then the same command without --via.',
  ),
  SSH_KEY_UNUSABLE: row(
    exitCodes.usage,
    'Nobody was let in, and a key that might have helped cannot be used.',
    'Mend what is said about the key above, or load it into an agent with `ssh-add FILE`.',
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
  TABLET_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: the tablet does not answer.',
    'Check its power, its WLAN and tablet.host in the site file, and that ADB over TCP is switched on (docs/kiosk.md).',
  ),
  TABLET_OFFLINE: row(
    exitCodes.notReachable,
    'The tablet answers, but its debug bridge does not work.',
    'Wake the tablet, wait until it has started, switch USB debugging off and on, then try again.',
  ),
  TABLET_LOST: row(
    exitCodes.notReachable,
    'The line to the tablet was cut.',
    'Check its WLAN and power, then run the command again: it goes on where it was.',
  ),
  TABLET_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Something answers at the address of the tablet, but not as Android does.',
    'Check that tablet.host and tablet.adbPort in the site file belong to the tablet.',
  ),
  PEER_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'A configured device does not answer.',
    'Check the address in the site file and the power of the device.',
  ),

  ENROLMENT_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'The enrolment endpoint does not answer.',
    'Check enrolment.url in the site file and that HTTPS (443) leads out of this network, then run it again; nothing is lost.',
  ),
  ENROLMENT_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Something answers at the enrolment address, but not as an enrolment endpoint does.',
    'Check enrolment.url in the site file, and that no proxy or login page of this network answers in its place.',
  ),
  ENROLMENT_UNAVAILABLE: row(
    exitCodes.notReachable,
    'The enrolment endpoint has a failure of its own.',
    'Try again later with the same one-time code; if it stays, tell the operator of the cloud.',
  ),

  SSH_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: the machine to go through does not answer.',
    'Check address and port after --via, that this laptop is in the robot segment, and that the machine is on.',
  ),
  SSH_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Something answers at the address to go through, but not as an SSH server does.',
    'Check that address and port are those of its SSH server; after many tries it may shut us out for some minutes.',
  ),
  SSH_NO_AGREEMENT: row(
    exitCodes.notReachable,
    'The SSH server and gw know no common way to encrypt.',
    'Update the SSH server; ways that are no longer safe (SHA-1, DSA) are not used.',
  ),
  SSH_LOST: row(
    exitCodes.notReachable,
    'The line to the machine that was gone through is lost.',
    'Check radio and cable, then run the command again; what it did until then may have taken effect.',
  ),
  FAR_GW_MISSING: row(
    exitCodes.notReachable,
    'There is no `gw` on the far side.',
    'Install gw there so that `ssh USER@HOST gw --version` answers.',
  ),
  FAR_GW_BAD_ANSWER: row(
    exitCodes.notReachable,
    'The `gw` on the far side does not answer as this one understands it.',
    'Bring both to the same version; `ssh USER@HOST gw --version` shows the one there.',
  ),

  // Refusals, by a peer or by a rule of ours
  SSH_HOST_KEY_UNKNOWN: row(
    exitCodes.refused,
    'The machine to go through is not known here, and nobody said that it is the right one.',
    'Run the command at a terminal and compare the fingerprint with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on that machine.',
  ),
  SSH_HOST_KEY_CHANGED: row(
    exitCodes.refused,
    'The machine to go through shows another key than the one that is known.',
    'Find out why before anything else. If it was set up anew, remove the old key with `ssh-keygen -R HOST`, then compare the new fingerprint there.',
  ),
  SSH_HOST_KEY_REVOKED: row(
    exitCodes.refused,
    'The machine to go through shows a key that known_hosts forbids.',
    'Do not log in. Ask who wrote the line named above; the machine needs a new key.',
  ),
  SSH_AUTH_REFUSED: row(
    exitCodes.refused,
    'The machine to go through lets nobody in with what was offered.',
    'Check user name and key: the public key must stand in ~/.ssh/authorized_keys there. With many keys in the agent, name the right one with IdentityFile and IdentitiesOnly in ~/.ssh/config.',
  ),
  SSH_CHANNEL_REFUSED: row(
    exitCodes.refused,
    'The machine that was logged in to lets nothing through, or runs no programs.',
    'In its sshd_config AllowTcpForwarding and PermitOpen must let this through; so must the options of the key in authorized_keys.',
  ),
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
    'Make sure that it is safe; then a signed-in person on site clears the stop: `gw motion clear`.',
  ),
  TABLET_UNAUTHORIZED: row(
    exitCodes.refused,
    'The tablet has not allowed this computer.',
    'Look at the tablet: compare the fingerprint, tick "Always allow from this computer", tap Allow; then try again.',
  ),
  TABLET_WRONG_DEVICE: row(
    exitCodes.refused,
    'Another tablet answers than the profile is for.',
    'The tablet has no fixed address: look up the address of this one, and mend tablet.host in the site file.',
  ),
  TABLET_TOO_OLD: row(
    exitCodes.refused,
    'The Android of this tablet is too old.',
    'Update the tablet, or take another one.',
  ),
  TABLET_NO_SPACE: row(
    exitCodes.refused,
    'The tablet has no room for the package.',
    'Remove what is not needed from the tablet, then run the command again.',
  ),
  TABLET_SEVERAL: row(
    exitCodes.refused,
    'Several tablets are connected, and nobody said which one is meant.',
    'Unplug the others, or write tablet.serial into the kiosk profile.',
  ),
  TABLET_REFUSED: row(exitCodes.refused, 'The tablet refused a command.', 'Read what the tablet said above.'),
  TOUR_UNKNOWN: row(exitCodes.refused, 'No tour has this name.', 'Name a tour that stands in the site file.'),
  STATION_UNKNOWN: row(
    exitCodes.refused,
    'The site file names no such place.',
    'Name a station that stands in the site file; a dock stands there as `dock`.',
  ),
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
  CHECKLIST_CHANGED: row(
    exitCodes.refused,
    'The checklist is not the one that the interrupted run was begun with.',
    'Begin a new run without --resume: answers to another list prove nothing about this one.',
  ),
  RUN_OPEN: row(exitCodes.refused, 'Another process works on this run of the checklist.', 'Let it end first.'),
  SIM_RUNNING: row(
    exitCodes.refused,
    'A simulated robot is running in this folder.',
    'End that one first, or name another folder with --dir.',
  ),
  NOT_ENROLLED: row(
    exitCodes.refused,
    'This device has no identity in the cloud yet.',
    'Enrol it with `gw enrol`, once, at the premises of the operator.',
  ),
  ALREADY_ENROLLED: row(
    exitCodes.refused,
    'This device has an identity already.',
    'Look at it with `gw enrol status`; replace it with `gw enrol --renew` and a new one-time code.',
  ),
  IDENTITY_BROKEN: row(
    exitCodes.refused,
    'The identity of this device is damaged, or others can read it.',
    'Bring the folder back from a copy, or replace the identity with `gw enrol --renew` and a new one-time code.',
  ),
  ENROLMENT_RUNNING: row(
    exitCodes.refused,
    'An enrolment of this device is under way.',
    'Wait for its end, then look with `gw enrol status`.',
  ),
  ENROLMENT_UNTRUSTED: row(
    exitCodes.refused,
    'The certificate of the enrolment endpoint is not trusted, so nothing was sent.',
    'Name the right certificates in enrolment.caFile, and check that nothing in this network inspects TLS.',
  ),
  ENROLMENT_REFUSED: row(
    exitCodes.refused,
    'The enrolment endpoint refused this device or its one-time code.',
    'Ask the operator of the cloud for a new one-time code for this serial number, then run it again.',
  ),
  CERTIFICATE_UNUSABLE: row(
    exitCodes.refused,
    'What came back cannot be the identity of this device, so nothing was installed.',
    'Tell the operator of the cloud what is wrong with the certificate; then run it again.',
  ),
  RECORD_ALTERED: row(
    exitCodes.refused,
    'Acceptance record was altered.',
    'Do not rely on it: ask for the file as it was written; `gw checklist verify FILE` says what is wrong.',
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
