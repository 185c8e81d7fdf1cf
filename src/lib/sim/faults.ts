/** What a fault touches, for people who read the list. */
export type FaultKind = 'network' | 'answers' | 'robot' | 'fleet' | 'enrolment' | 'cloud' | 'tablet';

export interface FaultRow {
  readonly kind: FaultKind;
  /** What it does, as somebody sees it who talks to the robot. */
  readonly does: string;
}

const row = (kind: FaultKind, does: string): FaultRow => ({ kind, does });

/** Every fault of the simulator. The command's list, docs/sim.md and the tests are this table. */
export const faultTable = {
  cut: row(
    'network',
    'The cable is cut: nothing listens any more and every connection is gone. Off: the same port again.',
  ),
  silent: row('network', 'Connections are accepted and never answered: no reply, no topic message, no pong.'),
  slow: row('network', 'Every reply and every topic message comes 3 seconds late.'),
  flapping: row('network', 'Topic connections are dropped every 2 seconds; a new one works until then.'),
  stale: row('network', 'Topics fall silent, but pings are answered and the connection stays.'),
  booting: row('robot', 'The robot starts and does not get ready: 503 on everything but the boot progress.'),
  'wrong-serial': row(
    'answers',
    'Another robot answers at this address: GET /device/info names another serial number.',
  ),
  'no-serial': row('answers', 'GET /device/info names no serial number at all.'),
  'old-software': row(
    'answers',
    'Older software: no capabilities but the topic stream, the list form is not understood, optional fields and newer calls are absent.',
  ),
  html: row('answers', 'Every request is answered with a web page; topic messages are web pages too.'),
  truncated: row('answers', 'JSON ends in the middle, in replies and in topic messages.'),
  'wrong-types': row('answers', 'JSON values have the wrong type: numbers as text, text as numbers, lists as objects.'),
  'numbers-as-text': row(
    'answers',
    'Topic messages carry every number as text: `"ori":"90"`, `"pos":["1","2"]`, `"percentage":"0.5"`. REST replies stay as they are.',
  ),
  nan: row('answers', 'Numbers in JSON are written NaN and -Infinity.'),
  'duplicate-keys': row('answers', 'Every JSON key comes twice, the second time with another value.'),
  huge: row('answers', 'Every reply is 50 MB of JSON; enabling a topic is answered by one message of that size.'),
  endless: row('answers', 'A reply begins and never ends.'),
  redirect: row('answers', 'Every request is redirected to a port of this machine where nothing listens.'),
  'server-error': row('answers', 'Every request is answered with 500.'),
  'garbage-frames': row(
    'answers',
    'The topic connection carries text that is no JSON, invalid UTF-8, continuation frames out of order, random bytes.',
  ),
  'unknown-state': row('answers', 'Moves that arrive report the state `finished`, which no list of states has.'),
  radians: row(
    'robot',
    '/tracked_pose reports radians instead of degrees. So that the unit shows, the robot turns in place through full circles, about 100 degrees a second, while no move runs; afterwards it turns back.',
  ),
  'radians-0-2pi': row(
    'robot',
    '/tracked_pose reports radians from 0 to 2π instead of degrees, and the robot turns as with `radians`.',
  ),
  'radians-unwrapped': row(
    'robot',
    '/tracked_pose reports radians that go on over full turns, seven of them since it was switched on, and the robot turns as with `radians`.',
  ),
  'degrees-0-360': row('robot', '/tracked_pose reports degrees from 0 to 360 instead of -180 to 180.'),
  'turned-by-hand': row(
    'robot',
    'No fault of the robot: a person turns it in place through full circles, about 100 degrees a second, while no move runs. Off: back to where it pointed.',
  ),
  'pose-in-degrees': row(
    'robot',
    'POST /chassis/pose takes `ori` for degrees: 1.5708 turns the robot by 1.5708 degrees.',
  ),
  'target-in-degrees': row(
    'robot',
    'POST /chassis/moves takes `target_ori` for degrees: 1.5708 ends the move at a heading of 1.5708 degrees.',
  ),
  'drifting-pose': row(
    'robot',
    '/tracked_pose wanders while the robot stands, by up to 0.3 m and 12 degrees within some seconds. The robot stays where it is.',
  ),
  'cancel-ignored': row('robot', 'Cancelling a move is answered with 200, and the robot drives on.'),
  'overlays-version-stuck': row('robot', 'A PATCH of overlays takes effect, and `overlays_version` stays as it was.'),
  'patch-drops': row(
    'robot',
    'A PATCH of overlays is answered with 200 and loses every property that no text describes.',
  ),
  'patch-renames': row('robot', 'A PATCH of overlays gives every feature an id of its own; references stay as sent.'),
  'patch-405': row('answers', 'PATCH of a map is answered with 405 and {"detail": …}; nothing changes.'),
  'running-map-keeps-overlays': row(
    'robot',
    'A PATCH of overlays is stored, and the robot drives by the old ones, with the old `overlays_version`, until POST /chassis/current-map takes the map into use again. Off: later PATCHes take effect at once.',
  ),
  'patch-ignored': row('robot', 'A PATCH of a map is answered with 200 and changes nothing.'),
  'image-slow': row('answers', 'The picture of a map comes in a trickle, a few bytes at a time, over 4 seconds.'),
  'image-fails': row('answers', 'The picture of a map and its localisation data are answered with 500.'),
  'image-cut': row(
    'answers',
    'The picture of a map and its localisation data break off in the middle of the announced length.',
  ),
  'map-loss': row('robot', 'POST /services/restart_service loses every map. Off: later restarts keep what is there.'),
  'emergency-stop': row(
    'robot',
    'The emergency stop is pressed: the robot stands, a running move waits and times out.',
  ),
  'localisation-lost': row('robot', 'The robot does not know where it is: moves fail with 1000.'),
  blocked: row('robot', 'Something stands in the way: the robot waits and the move times out with 15.'),
  'battery-low': row('robot', 'The battery reports 6 percent, with an alert.'),
  'wheel-error': row(
    'robot',
    'A wheel has failed (alert 2006): the robot stands. Off: the cause is gone; POST /services/wheel_control/clear_errors or a restart clears the error.',
  ),
  'rest-rates': row(
    'answers',
    'While the robot rests the topics come as slowly as a public integrator saw them: the pose about once a second, wheels and positioning every 2 s, the battery every 5 s.',
  ),
  'battery-unsure': row('robot', '/battery_state reports `full` at 41 percent.'),
  'manual-control': row(
    'robot',
    'Somebody has switched the robot to manual control: it stands, its wheels are released.',
  ),
  'alert-active': row('robot', 'The robot reports the errors 8004 and 1012, whatever else is active.'),
  'position-poor': row('robot', '/slam/state says reliable, with a position quality of 3, poor.'),
  'fleet-silent': row(
    'fleet',
    'The last neighbour sends no beat. Off: it was started anew, with a higher boot counter.',
  ),
  'fleet-replaying': row('fleet', 'After each of its beats the last neighbour sends the first that it ever sent.'),
  'fleet-wrong-key': row('fleet', 'The last neighbour signs with a key that is not the one of the site.'),
  'fleet-clock-jumps': row(
    'fleet',
    'The clock of the last neighbour jumps to and fro by years, and with it the uptime that it tells; its counters go on.',
  ),
  'fleet-serial-conflict': row(
    'fleet',
    'Another device, at 127.0.0.202, beats with the serial number of the last neighbour.',
  ),
  'enrolment-silent': row('enrolment', 'The enrolment endpoint takes connections and never says a word.'),
  'enrolment-no-tls': row('enrolment', 'The enrolment endpoint speaks HTTP without TLS.'),
  'enrolment-untrusted': row('enrolment', 'Another authority issued the certificate of the enrolment endpoint.'),
  'enrolment-server-expired': row('enrolment', 'The certificate of the enrolment endpoint expired yesterday.'),
  'enrolment-other-name': row('enrolment', 'The certificate of the enrolment endpoint is for elsewhere.example.'),
  'enrolment-no-answer': row('enrolment', 'The enrolment endpoint reads a request and never answers it.'),
  'enrolment-answer-lost': row(
    'enrolment',
    'The enrolment endpoint issues the certificate, uses the code up, and the line is cut before its answer.',
  ),
  'enrolment-html': row('enrolment', 'The enrolment endpoint answers with a web page and status 200.'),
  'enrolment-redirect': row('enrolment', 'The enrolment endpoint redirects to a sign-in page elsewhere.'),
  'enrolment-huge': row('enrolment', 'The answer of the enrolment endpoint is 4 MB long.'),
  'enrolment-error': row('enrolment', 'The enrolment endpoint answers with 500.'),
  'enrolment-refused': row('enrolment', 'The enrolment endpoint refuses every code with 403.'),
  'enrolment-wrong-serial': row('enrolment', 'The certificate that is issued names another serial number.'),
  'enrolment-wrong-key': row('enrolment', 'The certificate that is issued is for another key.'),
  'enrolment-expired': row('enrolment', 'The certificate that is issued expired yesterday.'),
  'enrolment-other-authority': row('enrolment', 'Another authority issued the certificate than the one in the answer.'),
  'enrolment-server-purpose': row('enrolment', 'The certificate that is issued is good for servers only.'),
  'enrolment-wrong-region': row('enrolment', 'The answer of the enrolment endpoint names the region xx-nowhere-1.'),
  'enrolment-clock': row('enrolment', 'The clock of the enrolment endpoint, in its Date header, is a day ahead.'),
  'cloud-direct-closed': row(
    'cloud',
    'The first port of the MQTT broker (8883 of a real one) refuses every connection.',
  ),
  'cloud-silent': row('cloud', 'Broker, storage and tunnel accept connections and never say a word of TLS.'),
  'cloud-inspected': row(
    'cloud',
    'Somebody opens TLS on the way to broker, storage and tunnel: certificates of an inspecting proxy of the house.',
  ),
  'cloud-alpn-refused': row('cloud', 'The second port of the MQTT broker knows another ALPN identifier only.'),
  'cloud-no-connack': row('cloud', 'The MQTT broker takes CONNECT and never answers it.'),
  'cloud-not-allowed': row('cloud', 'The MQTT broker answers CONNECT with return code 5, not authorized.'),
  'cloud-clock-off': row('cloud', 'The date of the object storage is a day ahead.'),
  'tablet-unauthorized': row(
    'tablet',
    'The tablet has forgotten whom it allowed to debug, and nobody answers its question. Off: somebody says yes.',
  ),
  'tablet-slow-prompt': row('tablet', 'Somebody says yes to the question of the tablet, 8 seconds after it came.'),
  'tablet-offline': row('tablet', 'The debug bridge of the tablet takes connections and never answers.'),
  'tablet-slow': row('tablet', 'The tablet takes 500 kB a second and no more.'),
  'tablet-cut': row('tablet', 'The connection breaks in the middle of every transfer, after 256 KiB.'),
  'tablet-full': row('tablet', 'No space is left on the tablet.'),
  'tablet-old': row('tablet', 'The tablet has Android 7.1.2 (API 25) and its older debug bridge.'),
  'tablet-other': row('tablet', 'Another tablet answers at this address: other model, other serial number.'),
  'tablet-account': row('tablet', 'Somebody has signed in on the tablet: it takes no device owner any more.'),
  'tablet-refuses-install': row('tablet', 'The tablet installs nothing: INSTALL_FAILED_USER_RESTRICTED.'),
  'tablet-unlocked': row('tablet', 'The kiosk shell does not go into lock task mode when it starts.'),
  'tablet-slow-reboot': row('tablet', 'A restart of the tablet takes 2 minutes. Off: it ends at once.'),
  'tablet-stays-open': row('tablet', 'ADB over TCP says that it ends, and its port stays open.'),
  'tablet-reopens': row('tablet', 'After a restart of the tablet ADB over TCP is on again, whatever was set before.'),
  'tablet-opened': row(
    'tablet',
    'When it is switched on, somebody at the tablet turns ADB over TCP on again, at its first port. Off changes nothing.',
  ),
} as const satisfies Record<string, FaultRow>;

export type FaultName = keyof typeof faultTable;

export const faultNames = Object.keys(faultTable) as readonly FaultName[];

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faultTable, name);
}

/** The faults of one simulated robot, switchable while it runs. */
export function createFaults(onChange: (name: FaultName, on: boolean) => void) {
  const active = new Set<FaultName>();
  return {
    is: (name: FaultName): boolean => active.has(name),
    set(name: FaultName, on: boolean): void {
      if (active.has(name) === on) return;
      if (on) active.add(name);
      else active.delete(name);
      onChange(name, on);
    },
    list: () => faultNames.map((name) => ({ name, on: active.has(name), ...faultTable[name] })),
  };
}

export type Faults = ReturnType<typeof createFaults>;
