import { createChassisClient } from '../../chassis/index.ts';
import { asGwError, type GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../../net/index.ts';
import { placesOf, readOverlays } from '../../overlays/index.ts';
import type { SeenChassis, SeenPoint } from '../../site/index.ts';

const MAX_POINTS = 100;
const LIMIT_MS = 10_000;

/** What the chassis at an address says of itself; or why nothing is known, which is no error of a new site file. */
export type ChassisReading =
  | { readonly seen: SeenChassis; readonly error: null }
  | { readonly seen: null; readonly error: GwError };

/**
 * Reads serial number, model, software, the list of maps, and the points of the current map, within ten seconds. Maps and
 * points that cannot be read are missing; only an unknown identity is a failure.
 */
export async function readChassis(
  endpoint: Endpoint,
  { dialer, clock, signal }: { readonly dialer: Dialer; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ChassisReading> {
  const ending = new AbortController();
  using _limit = clock.after(LIMIT_MS, () => ending.abort());
  const until = AbortSignal.any([signal, ending.signal]);
  await using client = createChassisClient({ endpoint, dialer, clock });
  try {
    const { serial, model, software } = await client.identity(until);
    const { maps } = await client.listMaps(until).catch(() => ({ maps: [] }));
    const current = await client.currentMap(until).catch(() => null);
    const points = current === null ? [] : await pointsOf(client, String(current.id), until).catch(() => []);
    const seen = {
      ...{ address: `${endpoint.host}:${endpoint.port}`, at: clock.wall().toISOString(), serial, model, software },
      maps: maps.map(({ id, name }) => ({ id: String(id), name, isCurrent: id === current?.id })),
      points,
    };
    return { seen, error: null };
  } catch (thrown) {
    signal.throwIfAborted();
    return { seen: null, error: asGwError(thrown) };
  }
}

async function pointsOf(
  client: ReturnType<typeof createChassisClient>,
  id: string,
  signal: AbortSignal,
): Promise<readonly SeenPoint[]> {
  const { features } = readOverlays(await client.mapBytes(id, signal), 'map');
  return features
    .flatMap(({ name, shape, yaw }): SeenPoint[] => {
      if (shape.kind !== 'point') return [];
      return placesOf(shape).map(([xM, yM]) => ({ name, xM, yM, yawDeg: yaw?.deg ?? null }));
    })
    .slice(0, MAX_POINTS);
}
