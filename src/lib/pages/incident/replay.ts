import type { Live, PageState } from '../model.ts';
import type { IncidentBody, IncidentHead, KeptMap, KeptPose, Scene } from './incident-model.ts';

/** An incident that is looked at. */
export interface Recording {
  readonly head: IncidentHead;
  readonly body: IncidentBody;
}

/** A pose that is not followed by another for this long was not current any more. Project decision, as for the live pose. */
const POSE_OLD_MS = 2_000;

/** The scene that held at a moment: the last one before it. */
function sceneAt({ scenes }: IncidentBody, atMs: number): Scene | null {
  return scenes.findLast((scene) => scene.atMs <= atMs) ?? scenes[0] ?? null;
}

/** The state that the pages could have shown at this moment, as far as it was kept; null of an incident without a scene. */
export function replayState(recording: Recording, atMs: number): PageState | null {
  const { head, body } = recording;
  const scene = sceneAt(body, atMs);
  if (scene === null) return null;
  const { headline, standing, stopPath, run, lamps } = scene;
  const frame = frameAt(body, scene, atMs);
  const isHere = ({ map = null }: { readonly map?: number | null }) =>
    frame.map.value !== null && mapOf(body, map)?.uid === frame.map.value.uid;
  const ago = (value: Pick<Live<unknown>, 'isUnreadable' | 'stale' | 'doubts'>) => ({
    ...{ ageMs: null, mark: null, basis: null, source: null },
    ...value,
  });
  return {
    id: '',
    build: '',
    time: momentOf(head, atMs),
    timeZone: head.timeZone,
    clock: '',
    site: {
      ...{ name: head.site, serial: head.serial, contact: null, tours: [], recent: [], needsSignIn: false },
      stations: body.stations.filter(isHere).map(withoutMap),
      dock: body.dock === null || !isHere(body.dock) ? null : withoutMap(body.dock),
    },
    screen: { dimAfterMs: null, shifts: false },
    ...{ headline, standing, stopPath },
    link: { ...scene.link, tried: '', forMs: 0, progress: null, foundSerial: null },
    identity: null,
    stop: { ...scene.stop, saved: 'pending' },
    gate: { ...scene.gate, unverified: [], technical: [], passable: [] },
    run: run && { ...run, id: '', forMs: 0, failure: null },
    failed: null,
    ...poseAt(frame.pose, scene, atMs),
    battery: { ...ago(scene.battery), value: scene.battery.value },
    positioning: { ...ago(scene.positioning), value: scene.positioning.value },
    wheels: { ...ago(scene.wheels), value: scene.wheels.value },
    planning: { ...ago(scene.planning), value: scene.planning.value },
    alerts: { ...ago(scene.alerts), value: scene.alerts.value },
    map: { ...ago(scene.map), value: frame.map.value },
    neighbours: [],
    support: null,
    lamps: lamps.map((lamp) => ({ ...lamp, state: [], rows: [] })),
  };
}

const mapOf = ({ maps = [] }: IncidentBody, index: number | null): KeptMap | null =>
  index === null ? null : (maps[index] ?? null);

function withoutMap<T extends { readonly map?: unknown }>({ map: _map, ...place }: T): Omit<T, 'map'> {
  return place;
}

/**
 * The map of the picture at a moment, and the pose in it: a pose is shown on its own map alone. One whose map is not known
 * is shown without any; one of another map than the robot reports at that moment is not there.
 */
function frameAt(
  body: IncidentBody,
  { map }: Scene,
  atMs: number,
): { readonly map: Pick<Scene['map'], 'value'>; readonly pose: KeptPose | undefined } {
  const pose = body.poses.findLast((one) => one.atMs <= atMs);
  const own = pose === undefined ? undefined : mapOf(body, pose.map ?? null);
  if (own === null) return { map: { value: null }, pose };
  return { map, pose: own?.uid === map.value?.uid ? pose : undefined };
}

/** Only poses that held when they arrived were kept. */
function poseAt(
  last: KeptPose | undefined,
  { headline, link }: Scene,
  atMs: number,
): Pick<PageState, 'pose' | 'heading'> {
  const ageMs = last === undefined ? null : atMs - last.atMs;
  const rest = {
    isUnreadable: false,
    ageMs,
    stale:
      link.kind !== 'connected' ? ('no-connection' as const) : (ageMs ?? 0) > POSE_OLD_MS ? ('too-old' as const) : null,
    ...{ mark: null, basis: null, source: null },
  };
  const says = (code: string) => headline.notes.some((note) => note.code === code);
  const doubts: Live<unknown>['doubts'] = [
    ...(says('unit-radians') ? ['radians' as const] : []),
    ...(says('unit-doubtful') ? ['unit-doubtful' as const] : []),
    ...(says('heading-misfit') ? ['heading-misfit' as const] : []),
  ];
  return {
    pose: { ...rest, doubts: [], value: last === undefined ? null : { xM: last.xM, yM: last.yM } },
    heading: { ...rest, doubts, value: last?.yawDeg ?? null },
  };
}

/** UTC, ISO 8601; unchanged where the time of the incident is none. */
export function momentOf({ at }: IncidentHead, atMs: number): string {
  const ms = Date.parse(at) + atMs;
  return Number.isFinite(ms) ? new Date(ms).toISOString() : at;
}
