/** Exit code of a command, by the kind of error. Project decision, see docs/decisions.md. */
export const exitCodes = {
  ok: 0,
  checkFailed: 1,
  usage: 2,
  notReachable: 3,
  refused: 4,
  internal: 70,
  /** What the command printed did not arrive: its reader is gone, or the disk is full. */
  outputLost: 74,
  /** `gw serve` in place of 2, which a shell without its script returns as well: systemd does not restart it. */
  configuration: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface ErrorRow {
  /** What failed, in at most eight words; the message of a concrete error adds the details. */
  readonly title: string;
  /** What to do next, as an imperative; an error may carry a more specific one. */
  readonly remedy: string;
  readonly exit: ExitCode;
}

const row = (exit: ExitCode, title: string, remedy: string): ErrorRow => ({ title, remedy, exit });

/** Every error code of gw. docs/errors.md is generated from it; a test compares both ways. */
export const errorTable = {
  // Usage and files
  USAGE: row(exitCodes.usage, 'Invalid command line.', 'Run the command with --help.'),
  SITE_FILE_NOT_FOUND: row(
    exitCodes.usage,
    'Site file not found.',
    'Name it with --site FILE, or create one with `gw site init`.',
  ),
  SITE_FILE_INVALID: row(
    exitCodes.usage,
    'Invalid site file.',
    'Correct the lines listed above, then run `gw site check`.',
  ),
  SECRET_UNREADABLE: row(
    exitCodes.usage,
    'Secret from the site file is unusable.',
    'Make the file readable for its owner only: `chmod 600 FILE`.',
  ),
  EVIDENCE_UNKNOWN: row(exitCodes.usage, 'Unknown evidence id.', 'List the ids with `gw evidence list`.'),
  EVIDENCE_FILE_INVALID: row(
    exitCodes.usage,
    'Invalid evidence file.',
    'Correct the line listed above; no entry is used until the whole file is valid.',
  ),
  CHECKLIST_INVALID: row(
    exitCodes.usage,
    'Invalid checklist file.',
    'Correct the lines listed above, then run `gw checklist show FILE`.',
  ),
  CHECKLIST_UNKNOWN: row(
    exitCodes.usage,
    'Unknown checklist.',
    'List the names with `gw checklist list`, or name a file.',
  ),
  ANSWERS_INVALID: row(
    exitCodes.usage,
    'Answers file does not match the checklist.',
    'Correct the lines listed above; `gw checklist show NAME` prints the questions and their ids.',
  ),
  STEP_UNKNOWN: row(
    exitCodes.usage,
    'Unknown checklist step or section.',
    'Print the ids with `gw checklist show NAME`.',
  ),
  ATTACHMENT_INVALID: row(
    exitCodes.usage,
    'Photo cannot be attached.',
    'Name a readable picture file (JPEG, PNG, WebP or HEIC) of at most 20 MiB.',
  ),
  NOTHING_TO_RESUME: row(exitCodes.usage, 'No interrupted run of this checklist.', 'Start a new run without --resume.'),
  JOURNAL_BROKEN: row(
    exitCodes.usage,
    'Journal of the interrupted run is corrupt.',
    'Start a new run without --resume; the corrupt journal is kept.',
  ),
  RECORD_INVALID: row(
    exitCodes.usage,
    'Not an acceptance record.',
    'Name the JSON file that `gw checklist run` wrote; run `gw checklist verify FILE` for what is wrong with this one.',
  ),
  INCIDENT_INVALID: row(
    exitCodes.usage,
    'Not a sound incident of gw.',
    'Do not rely on it: export the incident again with `gw incident export`.',
  ),
  INCIDENT_UNKNOWN: row(exitCodes.usage, 'No incident of this number.', 'See the numbers with `gw incident list`.'),
  FILE_EXISTS: row(exitCodes.usage, 'File exists already.', 'Name another file, or pass --force to replace it.'),
  FILE_UNWRITABLE: row(
    exitCodes.usage,
    'File cannot be written.',
    'Check that the folder exists, has free space and is writable for the user that runs gw.',
  ),
  FILE_UNREADABLE: row(
    exitCodes.usage,
    'File cannot be read.',
    'Make it readable for the user that runs gw, or name another file.',
  ),

  OVERLAYS_INVALID: row(
    exitCodes.usage,
    'Not a map overlay file.',
    'Name a GeoJSON FeatureCollection, a map object of the chassis, or a backup of gw.',
  ),
  MAP_UNKNOWN: row(exitCodes.usage, 'Unknown map.', 'List the maps with `gw map list`.'),
  ARCHIVE_INVALID: row(
    exitCodes.usage,
    'Backup is corrupt or not a backup.',
    'Do not rely on it: make a new one with `gw map backup`, then run `gw map verify FILE`.',
  ),

  PASSPHRASE_WRONG: row(
    exitCodes.usage,
    'Wrong passphrase.',
    'Type the passphrase that the backup was made with; without it the secrets can only be made anew.',
  ),

  RELEASE_INVALID: row(
    exitCodes.usage,
    'Not a valid release package.',
    'Get the package again from who built it; `gw release verify FILE` names what is wrong with it.',
  ),
  KIOSK_PROFILE_INVALID: row(
    exitCodes.usage,
    'Invalid kiosk profile.',
    'Correct the lines listed above; docs/kiosk.md describes every key.',
  ),
  KIOSK_PACKAGE_DIFFERS: row(
    exitCodes.usage,
    'Package file differs from the kiosk profile.',
    'Use the file that belongs to the profile, or write the SHA-256 of this one into the profile if you trust it.',
  ),
  ADB_NOT_FOUND: row(
    exitCodes.usage,
    'Program adb not found.',
    'Install it (Debian: `apt install adb`), or name it with --adb FILE.',
  ),

  SSH_CONFIG_INVALID: row(
    exitCodes.usage,
    'Unsupported or invalid SSH configuration.',
    'Correct the line listed above in ~/.ssh/config; compare with `ssh -G HOST`.',
  ),
  NEEDS_GATEWAY: row(
    exitCodes.usage,
    'Runs on the gateway only.',
    'Run it on the gateway: `ssh USER@HOST`, then the same command without --via.',
  ),
  SSH_KEY_UNUSABLE: row(
    exitCodes.usage,
    'SSH login failed; one key is unusable.',
    'Fix the key named above, or load it into an agent with `ssh-add FILE`.',
  ),

  // Not reachable
  CHASSIS_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: chassis does not answer.',
    'Run `gw chassis address` to identify the kind of failure; check power, network segment and the DHCP reservation.',
  ),
  CHASSIS_BOOTING: row(
    exitCodes.notReachable,
    'Chassis is still starting.',
    'Wait until its start is complete; watch the progress with `gw chassis watch`.',
  ),
  CHASSIS_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Unexpected answer at the chassis address.',
    'Check that address and port belong to the chassis and not to another device or a proxy.',
  ),
  OPERATOR_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'Operator server does not answer.',
    'Check that `gw serve` is running on this gateway.',
  ),
  SIM_NOT_RUNNING: row(exitCodes.notReachable, 'No simulated robot is running there.', 'Start one with `gw sim`.'),
  TABLET_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: tablet does not answer.',
    'Check its power, its WLAN and section tablet of the site file, and that ADB over TCP is enabled (docs/kiosk.md).',
  ),
  TABLET_NOT_FOUND: row(
    exitCodes.notReachable,
    'Tablet not found in the robot segment.',
    'Wake it, check its WLAN, and run this in the robot segment (--via). A closed tablet is found by tablet.mac only: the MAC address that it has in this WLAN (docs/kiosk.md).',
  ),
  TABLET_OFFLINE: row(
    exitCodes.notReachable,
    'Tablet answers, but ADB is offline.',
    'Wake the tablet, wait until it has started, switch USB debugging off and on, then try again.',
  ),
  TABLET_LOST: row(
    exitCodes.notReachable,
    'ADB connection to the tablet lost.',
    'Check its WLAN and power, then run the command again: it continues where it stopped.',
  ),
  TABLET_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Unexpected answer at the tablet address.',
    'Check that section tablet of the site file belongs to the tablet.',
  ),
  PEER_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'A configured device does not answer.',
    'Check the address in the site file and the power of the device.',
  ),

  ENROLMENT_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'Enrolment endpoint does not answer.',
    'Check enrolment.url in the site file and that this network allows outgoing HTTPS (443), then run it again; nothing is lost.',
  ),
  ENROLMENT_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Unexpected answer at the enrolment address.',
    'Check enrolment.url in the site file, and that no proxy or login page of this network answers in its place.',
  ),
  ENROLMENT_UNAVAILABLE: row(
    exitCodes.notReachable,
    'Enrolment endpoint returned a server error.',
    'Try again later with the same one-time code; if the error persists, report it to the operator of the cloud.',
  ),

  CLOUD_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: no link to the cloud.',
    'See the reason with `gw cloud status` and run `gw network check` on the gateway.',
  ),
  CLOUD_NO_ANSWER: row(
    exitCodes.notReachable,
    'Cloud did not answer a request.',
    'Wait and try again; if it persists, ask the cloud operator whether the service of this topic exists.',
  ),
  STORAGE_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'Object storage does not answer.',
    'Check cloud.storageUrl in the site file and run `gw network check` on the gateway; a transfer is resumed.',
  ),

  TUNNEL_NOT_REACHABLE: row(
    exitCodes.notReachable,
    'Tunnel service does not answer.',
    'Check host and port of the service (cloud.tunnel in the site file, or --tunnel-host), and that this network allows outgoing HTTPS.',
  ),
  TUNNEL_PROTOCOL: row(
    exitCodes.notReachable,
    'Invalid message from the tunnel service.',
    'Check cloud.tunnel in the site file (host, port, subprotocol), and that no proxy of this network answers in its place.',
  ),

  SSH_NOT_CONNECTED: row(
    exitCodes.notReachable,
    'not connected: SSH host does not answer.',
    'Check address and port after --via, that this laptop is in the robot segment, and that the remote host is on.',
  ),
  SSH_BAD_ANSWER: row(
    exitCodes.notReachable,
    'No SSH server at this address.',
    'Check that address and port are those of its SSH server; after many attempts the server may block this host for some minutes.',
  ),
  SSH_NO_AGREEMENT: row(
    exitCodes.notReachable,
    'No common SSH algorithm.',
    'Update the SSH server; algorithms that are no longer safe (SHA-1, DSA) are not used.',
  ),
  SSH_LOST: row(
    exitCodes.notReachable,
    'SSH connection lost.',
    'Check radio and cable, then run the command again; commands sent before the loss may have taken effect.',
  ),
  REMOTE_GW_MISSING: row(
    exitCodes.notReachable,
    'No `gw` on the remote host.',
    'Install gw there so that `ssh USER@HOST gw --version` answers.',
  ),
  REMOTE_GW_BAD_ANSWER: row(
    exitCodes.notReachable,
    'Unexpected answer from the remote `gw`.',
    'Bring both to the same version; `ssh USER@HOST gw --version` prints the remote one.',
  ),

  // Refused, by a peer or by a rule of gw
  OUTBOX_REFUSED: row(
    exitCodes.refused,
    'Outbox did not accept a message.',
    'See the reason above and `gw cloud outbox`; nothing that was accepted before is lost.',
  ),
  STORAGE_REFUSED: row(
    exitCodes.refused,
    'Object storage refused the transfer.',
    'Ask the cloud operator to check the pre-signed URLs for this device.',
  ),
  TUNNEL_REFUSED: row(
    exitCodes.refused,
    'Tunnel service refused the connection.',
    'Use the token of an open tunnel; a token works once, so let the tokens of the tunnel be rotated for a new one.',
  ),
  RELEASE_REFUSED: row(
    exitCodes.refused,
    'Release was refused.',
    'See the reason above; the running version was not changed.',
  ),
  SSH_HOST_KEY_UNKNOWN: row(
    exitCodes.refused,
    'Host key is unknown and was not confirmed.',
    'Run the command at a terminal and compare the fingerprint with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on that host.',
  ),
  SSH_HOST_KEY_CHANGED: row(
    exitCodes.refused,
    'Host key differs from the known one.',
    'Find out why before anything else. If the host was reinstalled, remove the old key with `ssh-keygen -R HOST`, then compare the new fingerprint there.',
  ),
  SSH_HOST_KEY_REVOKED: row(
    exitCodes.refused,
    'Host key is revoked in known_hosts.',
    'Do not log in. Ask the author of the line named above; the host needs a new key.',
  ),
  SSH_AUTH_REFUSED: row(
    exitCodes.refused,
    'SSH login failed: server rejected all keys.',
    'Check user name and key: the public key must be in ~/.ssh/authorized_keys there. With many keys in the agent, name the right one with IdentityFile and IdentitiesOnly in ~/.ssh/config.',
  ),
  SSH_CHANNEL_REFUSED: row(
    exitCodes.refused,
    'SSH server refused the channel.',
    'Allow it with AllowTcpForwarding and PermitOpen in its sshd_config, and with the options of the key in authorized_keys.',
  ),
  CHASSIS_WRONG_DEVICE: row(
    exitCodes.refused,
    'Another chassis answers at this address.',
    'Check chassis.serial and chassis.host in the site file, and the DHCP reservation of this chassis.',
  ),
  GATEWAY_OTHER_ROBOT: row(
    exitCodes.refused,
    'This gateway belongs to another robot.',
    'Name the site file of this robot with --site, or the gateway of the other one with --host or --via.',
  ),
  CHASSIS_REFUSED: row(
    exitCodes.refused,
    'Chassis refused the request.',
    'Read the answer of the chassis above; it gives the reason as far as the chassis reports one.',
  ),
  MOTION_REFUSED: row(
    exitCodes.refused,
    'Motion gate refused the order.',
    'Read the reasons above; each names the missing fact or state.',
  ),
  MOTION_STOPPED: row(
    exitCodes.refused,
    'Stop is latched; the robot must not move.',
    'Make sure that it is safe; then, signed in and on site, clear the stop: `gw motion clear`.',
  ),
  TABLET_UNAUTHORIZED: row(
    exitCodes.refused,
    'Tablet has not authorised this computer.',
    'On the tablet, compare the fingerprint, tick "Always allow from this computer" and tap Allow; then try again.',
  ),
  TABLET_WRONG_DEVICE: row(
    exitCodes.refused,
    'Another tablet answers at this address.',
    'Name tablet.serial in the site file in place of tablet.host, so that gw finds the tablet, or look up its current address.',
  ),
  TABLET_TOO_OLD: row(
    exitCodes.refused,
    'Android version of the tablet is too old.',
    'Update the tablet, or use another one.',
  ),
  TABLET_NO_SPACE: row(
    exitCodes.refused,
    'Not enough free space on the tablet.',
    'Remove unneeded data from the tablet, then run the command again.',
  ),
  TABLET_SEVERAL: row(
    exitCodes.refused,
    'Several tablets are connected, none is selected.',
    'Unplug the others, or write tablet.serial into the kiosk profile.',
  ),
  TABLET_REFUSED: row(exitCodes.refused, 'Tablet refused a command.', 'Read the answer of the tablet above.'),
  TOUR_UNKNOWN: row(exitCodes.refused, 'Unknown tour.', 'Name a tour of the site file.'),
  QUEUE_CLOSED: row(
    exitCodes.refused,
    'Nothing can be put in the queue now.',
    'Start a drive; further stations can be queued while it runs, and after its arrival.',
  ),
  QUEUE_FULL: row(
    exitCodes.refused,
    'The queue is full.',
    'Remove a station from it, or wait for the next one to begin.',
  ),
  STATION_UNKNOWN: row(exitCodes.refused, 'Unknown station.', 'Name a station of the site file; the dock is `dock`.'),
  TOUR_RUNNING: row(exitCodes.refused, 'A tour is running.', 'Wait for its end, or stop it first.'),
  TOUR_NOT_RUNNING: row(exitCodes.refused, 'No tour is running.', 'Start a tour.'),
  TOUR_NOT_PAUSED: row(exitCodes.refused, 'The tour is not paused.', 'Start it.'),
  RISK_NOT_ACCEPTED: row(
    exitCodes.refused,
    'Needs an explicit risk flag.',
    'Read what may happen, then name the risk with the flag shown above.',
  ),
  ARCHIVE_FOREIGN: row(
    exitCodes.refused,
    'Backup belongs to another chassis.',
    'Take one of this chassis with `gw map backup`; to copy maps of another robot use `gw map restore FILE --from-another-robot SERIAL`.',
  ),
  REPLACEMENT_OTHER: row(
    exitCodes.refused,
    'Another replacement is under way.',
    'Finish it, or move its file away; the message names it.',
  ),
  REPLACEMENT_CONTRADICTED: row(
    exitCodes.refused,
    'Confirmation contradicts what gw sees.',
    'Do what the line of that step says, then confirm it again.',
  ),
  BACKUP_TOO_LARGE: row(
    exitCodes.refused,
    'Maps exceed the limits of a backup.',
    'Back up fewer maps at a time: `gw map backup --map ID`, several times `--map` for several.',
  ),
  BACKUP_OUTDATED: row(
    exitCodes.refused,
    'Backup differs from the current chassis content.',
    'Make a new one with `gw map backup`, then try again.',
  ),
  MAP_UNREADABLE: row(
    exitCodes.refused,
    'Map of the chassis cannot be read.',
    'Store the map again or delete it with the tool of the chassis; the other maps can be used.',
  ),
  CHASSIS_MOVING: row(
    exitCodes.refused,
    'Robot is moving or its motion is unknown.',
    'Let it come to a stop first, then try again.',
  ),
  CHECKLIST_CHANGED: row(
    exitCodes.refused,
    'Checklist changed since the interrupted run began.',
    'Start a new run without --resume: answers to another version prove nothing about this one.',
  ),
  RUN_OPEN: row(exitCodes.refused, 'Run is locked by another process.', 'Wait for that process, or end it first.'),
  SIM_RUNNING: row(
    exitCodes.refused,
    'A simulated robot runs in this folder.',
    'End it first, or name another folder with --dir.',
  ),
  NOT_ENROLLED: row(
    exitCodes.refused,
    'Device is not enrolled.',
    'Enrol it with `gw enrol`, once, at the premises of the operator.',
  ),
  ALREADY_ENROLLED: row(
    exitCodes.refused,
    'Device is enrolled already.',
    'Show the identity with `gw enrol status`; replace it with `gw enrol --renew` and a new one-time code.',
  ),
  IDENTITY_BROKEN: row(
    exitCodes.refused,
    'Device identity is damaged or readable by others.',
    'Restore the folder from a copy, or replace the identity with `gw enrol --renew` and a new one-time code.',
  ),
  ENROLMENT_RUNNING: row(
    exitCodes.refused,
    'An enrolment of this device is running.',
    'Wait for its end, then run `gw enrol status`.',
  ),
  ENROLMENT_UNTRUSTED: row(
    exitCodes.refused,
    'Certificate of the enrolment endpoint is not trusted.',
    'Name the right CA certificates in enrolment.caFile, and check that no device in this network inspects TLS; nothing was sent.',
  ),
  ENROLMENT_REFUSED: row(
    exitCodes.refused,
    'Enrolment endpoint rejected device or one-time code.',
    'Ask the operator of the cloud for a new one-time code for this serial number, then run it again.',
  ),
  CERTIFICATE_UNUSABLE: row(
    exitCodes.refused,
    'Issued certificate is unusable; nothing was installed.',
    'Report the fault named above to the operator of the cloud; then run it again.',
  ),
  RECORD_ALTERED: row(
    exitCodes.refused,
    'Acceptance record was altered after signing.',
    'Do not rely on it: ask for the original file; `gw checklist verify FILE` lists the differences.',
  ),
  PORT_IN_USE: row(
    exitCodes.refused,
    'Port is in use.',
    'Find the program with `ss -ltnp`. If it is no gateway of a robot, end it, then start again.',
  ),
  GATEWAY_RUNNING: row(
    exitCodes.refused,
    'A `gw serve` runs here already.',
    'Use the running gateway. Ending it cancels a drive: to replace it, end it when the robot stands, then start again.',
  ),
  PORT_UNUSABLE: row(
    exitCodes.refused,
    'Operating system refused to open the port.',
    'Choose a port that this user may open: operator.port in the site file.',
  ),
  NOT_SIGNED_IN: row(exitCodes.refused, 'Sign-in required.', 'Sign in with the device password first.'),
  SIGN_IN_FAILED: row(exitCodes.refused, 'Wrong device password.', 'Try again with the device password.'),

  // Failed checks and internal errors
  CHECK_FAILED: row(exitCodes.checkFailed, 'A check failed.', 'Read the failed lines above.'),
  PART_ENDED: row(
    exitCodes.checkFailed,
    'Child process failed to start or ended.',
    'Read its last lines above, and its whole log.',
  ),
  WRITE_DIFFERS: row(
    exitCodes.checkFailed,
    'Chassis content differs from what was written.',
    'Keep both backups, change nothing more, and read above whether the previous state was restored.',
  ),
  INTERRUPTED: row(exitCodes.interrupted, 'Interrupted.', 'Run the command again.'),
  INTERNAL: row(
    exitCodes.internal,
    'Internal error.',
    'Run it again with GW_DEBUG=1 for the stack trace, and report both.',
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;
