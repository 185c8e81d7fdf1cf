/** The part that a fault affects. */
export type FaultKind = 'network' | 'answers' | 'robot' | 'fleet' | 'enrolment' | 'cloud' | 'tablet';

export interface FaultRow {
  readonly kind: FaultKind;
  /** Effect as observed by a client. */
  readonly effect: string;
}

const row = (kind: FaultKind, effect: string): FaultRow => ({ kind, effect });

/** Faults of the chassis. */
const chassisFaults = {
  cut: row(
    'network',
    'The cable is cut: all connections are closed and new ones refused. Off: the same port is open again.',
  ),
  silent: row('network', 'Connections are accepted and get no reply, no topic message, no pong.'),
  slow: row('network', 'Every reply and every topic message is 3 seconds late.'),
  flapping: row('network', 'Topic connections are dropped every 2 seconds; a new one works in between.'),
  stale: row('network', 'Topics stop publishing; pings are answered and the connection stays open.'),
  booting: row('robot', 'The robot starts and does not become ready: 503 for everything except the boot progress.'),
  'wrong-serial': row(
    'answers',
    'Another robot answers at this address: GET /device/info reports another serial number.',
  ),
  'no-serial': row('answers', 'GET /device/info reports no serial number.'),
  html: row('answers', 'Every reply and every topic message is a web page.'),
  truncated: row('answers', 'JSON is truncated in the middle, in replies and in topic messages.'),
  'wrong-types': row('answers', 'JSON values have the wrong type: numbers as text, text as numbers, lists as objects.'),
  'numbers-as-text': row(
    'answers',
    'Topic messages carry every number as text: `"ori":"90"`, `"pos":["1","2"]`, `"percentage":"0.5"`. REST replies are unchanged.',
  ),
  'half-readable': row(
    'answers',
    'Topic messages of the robot have one member of the wrong type: `control_mode` and the `state` of the localisation are 0, the `level` of an alert 2. The other members are true.',
  ),
  nan: row('answers', 'Numbers in JSON are NaN and -Infinity.'),
  'duplicate-keys': row('answers', 'Every JSON key occurs twice, the second time with another value.'),
  huge: row('answers', 'Every reply is 50 MB of JSON; enabling a topic returns one message of that size.'),
  endless: row('answers', 'A reply starts and never ends.'),
  redirect: row('answers', 'Every request is redirected to a closed local port.'),
  'server-error': row('answers', 'Every request is answered with 500.'),
  'garbage-frames': row(
    'answers',
    'The topic connection carries text that is not JSON, invalid UTF-8, continuation frames out of order, random bytes.',
  ),
  'unknown-state': row('answers', 'Moves that arrive report the state `finished`, which is not a documented state.'),
  radians: row(
    'robot',
    '/tracked_pose reports radians instead of degrees. To make the unit visible, the robot turns in place in full circles, about 100 degrees per second, while no move runs; afterwards it turns back.',
  ),
  'radians-0-2pi': row(
    'robot',
    '/tracked_pose reports radians from 0 to 2π instead of degrees, and the robot turns as with `radians`.',
  ),
  'radians-unwrapped': row(
    'robot',
    '/tracked_pose reports unwrapped radians, starting at seven full turns, and the robot turns as with `radians`.',
  ),
  'degrees-0-360': row('robot', '/tracked_pose reports degrees from 0 to 360 instead of -180 to 180.'),
  'turned-by-hand': row(
    'robot',
    'Not a fault of the robot: a person turns it in place in full circles, about 100 degrees per second, while no move runs. Off: back to the previous heading.',
  ),
  'pose-in-degrees': row(
    'robot',
    'POST /chassis/pose reads `ori` as degrees: 1.5708 sets a heading of 1.5708 degrees.',
  ),
  'target-in-degrees': row(
    'robot',
    'POST /chassis/moves reads `target_ori` as degrees: 1.5708 ends the move at a heading of 1.5708 degrees.',
  ),
  'drifting-pose': row(
    'robot',
    '/tracked_pose drifts by up to 0.3 m and 12 degrees within seconds while the robot stands still.',
  ),
  'cancel-ignored': row('robot', 'Cancelling a move returns 200, and the robot continues.'),
  'cancel-lies': row(
    'robot',
    'Cancelling a move returns 200 and the move is reported as cancelled, and the robot drives on to its goal. Off: it stops.',
  ),
  coasting: row(
    'robot',
    'A cancelled move is reported as cancelled, and the robot rolls on along its way for 4 seconds, at most 0.3 m/s, before it stops. Off: it stops.',
  ),
  'cancel-refused': row('robot', 'Cancelling a move returns 500, and the robot continues.'),
  creeping: row(
    'robot',
    'While no move runs the robot creeps at 0.1 m/s, 1.2 m ahead and back again and again, and reports no move. Off: it rests where it is.',
  ),
  spinning: row(
    'robot',
    'While no move runs, so also after a cancel, the robot spins in place at 15 degrees per second, and reports no move. With `radians` it spins at this rate, too. Off: it rests where it is.',
  ),
  misses: row(
    'robot',
    'Moves end about 1 m before their goal and report succeeded, those to the dock too; a shorter way is not driven at all.',
  ),
  'succeeds-early': row('robot', 'Moves report succeeded halfway, and the robot drives on to its goal. Off: it stops.'),
  clockwise: row('robot', '/tracked_pose counts headings clockwise: the sign of `ori` is reversed.'),
  'noisy-pose': row(
    'robot',
    '/tracked_pose has noise with a standard deviation of 1 cm in each coordinate and 0.5 degrees, the same values in every run.',
  ),
  'overlays-version-stuck': row('robot', 'A PATCH of overlays takes effect, and `overlays_version` does not change.'),
  'patch-drops': row('robot', 'A PATCH of overlays returns 200 and loses every undocumented property.'),
  'patch-renames': row('robot', 'A PATCH of overlays replaces the id of every feature; references stay as sent.'),
  'patch-405': row('answers', 'PATCH of a map returns 405 and {"detail": …} without effect.'),
  'running-map-keeps-overlays': row(
    'robot',
    'A PATCH of overlays is stored, and the robot uses the old ones, with the old `overlays_version`, until POST /chassis/current-map loads the map again. Off: later PATCHes take effect at once.',
  ),
  'patch-ignored': row('robot', 'A PATCH of a map returns 200 without effect.'),
  'image-slow': row('answers', 'The picture of a map is sent slowly, a few bytes at a time, over 4 seconds.'),
  'image-fails': row('answers', 'The picture of a map and its localisation data return 500.'),
  'image-cut': row('answers', 'The picture of a map and its localisation data end before the announced length.'),
  'map-damaged': row('answers', 'The data of the last map of the list, GET /maps/<id>, return 500; its files do not.'),
  'current-map-fails': row('answers', 'GET /chassis/current-map returns 500.'),
  'map-loss': row('robot', 'POST /services/restart_service loses every map. Off: later restarts keep the maps.'),
  'emergency-stop': row('robot', 'The emergency stop is pressed: the robot stops, a running move waits and times out.'),
  'localisation-lost': row('robot', 'The robot is not localised: moves fail with 1000.'),
  blocked: row('robot', 'An obstacle blocks the robot: it waits and the move times out with 15.'),
  'battery-low': row('robot', 'The battery reports 6 percent, with an alert.'),
  'wheel-error': row(
    'robot',
    'A wheel has failed (alert 2006): the robot stops. Off: the cause is removed; POST /services/wheel_control/clear_errors or a restart clears the error.',
  ),
  'rest-rates': row(
    'answers',
    'At rest the topics have the rates that a public integrator observed: the pose about once per second, wheels and positioning every 2 s, the battery every 5 s.',
  ),
  'battery-unsure': row('robot', '/battery_state reports `full` at 41 percent.'),
  'battery-to-100': row(
    'robot',
    '/battery_state counts `percentage` from 0 to 100, and the charge is 1 percent: `percentage` 1, with an alert.',
  ),
  'manual-control': row('robot', 'The robot is in manual control: it stops, its wheels are released.'),
  'alert-active': row('robot', 'The robot reports the errors 8004 and 1012 in addition to its other alerts.'),
  'position-poor': row('robot', '/slam/state reports reliable, with a position quality of 3, poor.'),
} as const satisfies Record<string, FaultRow>;

/** Faults of the other parts, which their names begin with. */
const partFaults = {
  'fleet-silent': 'The last neighbour sends no heartbeats. Off: it restarts with a higher boot counter.',
  'fleet-replaying': 'After each heartbeat the last neighbour sends its first one again.',
  'fleet-wrong-key': 'The last neighbour signs with a key other than that of the site.',
  'fleet-clock-jumps':
    'The clock of the last neighbour jumps back and forth by years, and with it the reported uptime; its counters continue.',
  'fleet-serial-conflict':
    'Another device, at 127.0.0.202, sends heartbeats with the serial number of the last neighbour.',
  'enrolment-silent': 'The enrolment endpoint accepts connections and sends nothing.',
  'enrolment-no-tls': 'The enrolment endpoint uses HTTP without TLS.',
  'enrolment-untrusted': 'Another CA issued the certificate of the enrolment endpoint.',
  'enrolment-server-expired': 'The certificate of the enrolment endpoint expired yesterday.',
  'enrolment-other-name': 'The certificate of the enrolment endpoint is for elsewhere.example.',
  'enrolment-no-answer': 'The enrolment endpoint reads a request and sends no answer.',
  'enrolment-answer-lost':
    'The enrolment endpoint issues the certificate and uses the code, then the connection closes before the answer.',
  'enrolment-html': 'The enrolment endpoint returns a web page with status 200.',
  'enrolment-redirect': 'The enrolment endpoint redirects to a sign-in page at another address.',
  'enrolment-huge': 'The answer of the enrolment endpoint is 4 MB long.',
  'enrolment-error': 'The enrolment endpoint returns 500.',
  'enrolment-busy': 'The enrolment endpoint returns 503.',
  'enrolment-slow': 'The enrolment endpoint answers 20 seconds late.',
  'enrolment-refused': 'The enrolment endpoint refuses every code, and every renewal without one, with 403.',
  'enrolment-wrong-serial': 'The issued certificate contains another serial number.',
  'enrolment-wrong-key': 'The issued certificate is for another key.',
  'enrolment-expired': 'The issued certificate expired yesterday.',
  'enrolment-other-ca': 'The issued certificate is from another CA than the one in the answer.',
  'enrolment-unknown-ca':
    'The issued certificate is from a CA that the answer names and the MQTT broker does not know.',
  'enrolment-short-lived': 'The issued certificate ends in 22 days.',
  'enrolment-server-purpose': 'The issued certificate is valid for servers only.',
  'enrolment-wrong-region': 'The answer of the enrolment endpoint names the region xx-nowhere-1.',
  'enrolment-clock': 'The clock of the enrolment endpoint, in its Date header, is a day ahead.',
  'cloud-direct-closed': 'The first port of the MQTT broker (8883 of a real one) refuses every connection.',
  'cloud-silent': 'Broker, storage and tunnel accept connections and do not answer the ClientHello.',
  'cloud-inspected':
    'TLS to broker, storage and tunnel is intercepted: certificates of an inspecting proxy of the customer.',
  'cloud-alpn-refused': 'The second port of the MQTT broker accepts another ALPN identifier only.',
  'cloud-no-connack': 'The MQTT broker reads CONNECT and sends no CONNACK.',
  'cloud-not-allowed': 'The MQTT broker rejects CONNECT with return code 5, not authorized.',
  'cloud-clock-off':
    'The clock of the cloud is a day ahead: the Date header of the object storage, the times of jobs, shadow and pre-signed URLs.',
  'cloud-puback-lost': 'The MQTT broker processes every PUBLISH and sends no PUBACK.',
  'cloud-slow': 'Everything that the MQTT broker and the object storage send is 3 seconds late.',
  'cloud-cut': 'The MQTT broker is down: both ports refuse every connection. It keeps its sessions.',
  'cloud-restarting':
    'The MQTT broker restarts again and again: 2 seconds closed, 3 seconds open. It keeps its sessions.',
  'cloud-session-lost':
    'The MQTT broker forgets the session of every client that connects: CONNACK has sessionPresent 0.',
  'cloud-duplicates':
    'The MQTT broker delivers every QoS 1 message twice, the second time with another packet id and without DUP.',
  'cloud-error':
    'Jobs, shadow and object storage answer every request with an internal error; requests for upload URLs get no answer.',
  'cloud-url-expired': 'New pre-signed URLs have expired already: the object storage returns 403.',
  'cloud-storage-cut': 'The object storage closes the connection after half of the bytes of a transfer.',
  'cloud-storage-slow': 'The object storage transfers 100 kB per second.',
  'cloud-storage-corrupt': 'One byte of every downloaded object is wrong.',
  'cloud-tunnel-refused': 'The tunnel service answers every handshake with 403.',
  'cloud-tunnel-not-found': 'The tunnel service answers every handshake with 404.',
  'cloud-tunnel-rate-limited': 'The tunnel service answers every handshake with 429.',
  'cloud-tunnel-error': 'The tunnel service answers every handshake with 503.',
  'cloud-tunnel-drops':
    'The tunnel service drops every WebSocket without a close frame: open ones at once, new ones after 2 seconds.',
  'cloud-tunnel-silent':
    'The tunnel service sends nothing: no answer to a handshake, no frame, no pong, no close frame. Off: what waits is relayed, and closed tunnels are closed.',
  'cloud-tunnel-clock-stopped':
    'The clock of the tunnel service stands still: no tunnel reaches the end of its lifetime.',
  'cloud-tunnel-wrong-region': 'Tunnel notifications name the region xx-nowhere-1.',
  'tablet-unauthorized':
    'The tablet has lost its allowed keys, and its debugging prompt is not answered. Off: a person allows it.',
  'tablet-slow-prompt': 'A person allows debugging 8 seconds after the prompt appeared.',
  'tablet-offline': 'The debug bridge of the tablet accepts connections and sends nothing.',
  'tablet-slow': 'The tablet receives at most 500 kB per second.',
  'tablet-cut': 'The connection closes during every transfer, after 256 KiB.',
  'tablet-full': 'The tablet has no free space.',
  'tablet-old': 'The tablet has Android 7.1.2 (API 25) and its older debug bridge.',
  'tablet-other': 'Another tablet answers at this address, with another model and serial number.',
  'tablet-account': 'An account exists on the tablet: it accepts no device owner.',
  'tablet-refuses-install': 'The tablet refuses every installation: INSTALL_FAILED_USER_RESTRICTED.',
  'tablet-unlocked': 'The kiosk shell does not enter lock task mode when it starts.',
  'tablet-slow-reboot': 'A restart of the tablet takes 2 minutes. Off: it ends at once.',
  'tablet-stays-open': 'ADB over TCP confirms that it ends, and its port stays open.',
  'tablet-reopens': 'After a restart of the tablet ADB over TCP is on, regardless of its earlier state.',
  'tablet-opened': 'Switching it on turns ADB over TCP on at the tablet, at its first port. Off has no effect.',
} as const;

export type FaultName = keyof typeof chassisFaults | keyof typeof partFaults;

/** Every fault of the simulator. The command's list, docs/sim.md and the tests use this table. */
export const faultTable = {
  ...chassisFaults,
  ...Object.fromEntries(
    Object.entries(partFaults).map(([name, effect]) => [name, row(name.split('-')[0] as FaultKind, effect)]),
  ),
} as Readonly<Record<FaultName, FaultRow>>;

export const faultNames = Object.keys(faultTable) as readonly FaultName[];

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

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faultTable, name);
}

export type Faults = ReturnType<typeof createFaults>;
