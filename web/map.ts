import { select } from 'd3-selection';
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom';
import { type MapModel, mapToLoad, readMap } from '../src/lib/pages/map/map-model.ts';
import type { PageState } from '../src/lib/pages/model.ts';
import type { Interaction } from '../src/lib/pages/ui.ts';
import type { Viewer } from '../src/lib/pages/viewer.ts';
import { createLabels } from './labels.ts';
import { Refused, readJson } from './read.ts';

/** Project decisions: a map beyond these is not loaded into the browser of a tablet. */
const MAX_DATA_BYTES = 24e6;
const MAX_PLAN_PIXELS = 40e6;
const RETRY_MS = 5_000;
/** The page says that it is the last map. */
const OR_LAST = '?orLast=true';

export interface MapOptions {
  readonly viewer: Viewer;
  readonly show: (change: Partial<Interaction>) => void;
}

/** Loads the map that the robot drives on, and moves its layer by touch, wheel and the buttons beside it. */
export function createMap({ viewer, show }: MapOptions) {
  let key = '';
  let transform: ZoomTransform = zoomIdentity;
  let isFollowing = false;
  let shown: SVGSVGElement | null = null;
  const behavior = zoom<SVGSVGElement, unknown>()
    .scaleExtent([0.5, 40])
    .on('zoom', (event: D3ZoomEvent<SVGSVGElement, unknown>) => {
      transform = event.transform;
      // Only a person has a source event.
      if (event.sourceEvent !== null && isFollowing) setFollowing(false);
      apply();
    });
  const usual = behavior.filter();
  // One finger places the pose that is about to be set, so it does not move the map; two fingers and the wheel do.
  behavior.filter(function (this: SVGSVGElement, event: Event, data: unknown) {
    const moves = this.closest('#set-pose') === null || event.type === 'wheel' || touchesOf(event) > 1;
    return moves && usual.call(this, event, data);
  });
  const resized = new ResizeObserver(apply);
  const labels = createLabels();

  function setFollowing(is: boolean): void {
    isFollowing = is;
    show({ isFollowing });
  }

  function apply(): void {
    if (shown === null) return;
    shown.querySelector('#map-layer')?.setAttribute('transform', transform.toString());
    const { width, height } = shown.viewBox.baseVal;
    const perUnit = Math.min(shown.clientWidth / width, shown.clientHeight / height);
    shown.style.setProperty('--pin', `${1 / (perUnit * transform.k || 1)}`);
    labels.arrange(shown);
  }

  /** After each painting: the picture may be a new one. */
  function painted(state: PageState, ui: Interaction): void {
    const { pose } = state;
    const svg = document.querySelector<SVGSVGElement>('#map');
    if (svg !== shown) {
      resized.disconnect();
      shown = svg;
      if (svg === null) return;
      resized.observe(svg);
      select(svg).call(behavior);
      apply();
    }
    if (svg !== null && labels.isOther(state, ui)) apply();
    if (svg === null || !ui.isFollowing || pose.value === null) return;
    behavior.translateTo(select(svg), pose.value.xM * 100, -pose.value.yM * 100);
  }

  async function load(uid: string, ofKey: string): Promise<void> {
    const map = await loadMap(uid, viewer.readOnly);
    if (key !== ofKey) return;
    show({ map: map ?? 'none' });
    if (map === null) setTimeout(() => forget(ofKey), RETRY_MS);
  }

  /** The next state loads it again. */
  function forget(ofKey: string): void {
    if (key === ofKey) key = '';
  }

  return {
    painted,
    zoom(factor: number): void {
      if (shown !== null) behavior.scaleBy(select(shown), factor);
    },
    follow: () => setFollowing(!isFollowing),
    /** The keyboard is at this pin: it comes into view. */
    goToPin(atPin: string): void {
      show({ atPin });
      const pin = shown?.querySelector(`[data-pin=${JSON.stringify(atPin)}]`);
      if (shown === null || !(pin instanceof SVGGElement)) return;
      const [at, frame] = [pin.getBoundingClientRect(), shown.getBoundingClientRect()];
      const [x, y] = [(at.left + at.right) / 2, (at.top + at.bottom) / 2];
      if (x > frame.left && x < frame.right && y > frame.top && y < frame.bottom) return;
      const place = pin.transform.baseVal.consolidate()?.matrix;
      if (place) behavior.translateTo(select(shown), place.e, place.f);
    },
    /** Loads another map when the robot reports one; while it is not connected, the last one that the gateway has. */
    follows(state: PageState): void {
      const { value } = state.map;
      if (value === null) {
        show({ map: 'none' });
        return;
      }
      const next = mapToLoad(key, state);
      if (next === null) return;
      key = next;
      void load(value.uid, next);
    },
  };
}

/** The map of this uid; null: it cannot be read now. */
async function loadMap(uid: string, readOnly: boolean): Promise<MapModel | 'too-large' | null> {
  try {
    const list = await readJson(`/api/chassis/maps${OR_LAST}`, MAX_DATA_BYTES);
    if (!Array.isArray(list)) return null;
    const found = list.find((one: unknown) => (one as { uid?: unknown } | null)?.uid === uid) as
      | { id?: unknown }
      | undefined;
    const id = encodeURIComponent(String(found?.id ?? ''));
    if (id === '') return null;
    const data = await readJson(`/api/chassis/maps/${id}${OR_LAST}`, MAX_DATA_BYTES);
    if (data === 'too-large') return data;
    const { place, features, isPartial } = readMap(data);
    const origin = { xM: place?.originXM ?? 0, yM: place?.originYM ?? 0 };
    const plan =
      place === null || readOnly ? null : await loadPlan(`/api/chassis/maps/${id}.png${OR_LAST}`, place.metresPerPixel);
    return { plan, origin, features, isPartial };
  } catch (error) {
    // What will be refused again is not requested again.
    return error instanceof Refused && error.code === 'MAP_TOO_LARGE' ? 'too-large' : null;
  }
}

const touchesOf = (event: Event) => (event as Partial<TouchEvent>).touches?.length ?? 0;

/** The floor plan, decoded once; null: not available, or too large. */
async function loadPlan(path: string, metresPerPixel: number): Promise<MapModel['plan']> {
  const reply = await fetch(path);
  if (!reply.ok) return null;
  const blob = await reply.blob();
  // Width and height stand at a fixed place of every PNG, so that a huge one is not decoded.
  const head = new DataView(await blob.slice(0, 24).arrayBuffer());
  const [width, height] = head.byteLength < 24 ? [0, 0] : [head.getUint32(16), head.getUint32(20)];
  if (width === 0 || height === 0 || width * height > MAX_PLAN_PIXELS) return null;
  return { href: URL.createObjectURL(blob), widthM: width * metresPerPixel, heightM: height * metresPerPixel };
}
