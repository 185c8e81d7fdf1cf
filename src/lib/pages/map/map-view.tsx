import { partsOf } from '../service/pose-draft.ts';
import type { Props } from '../ui.ts';
import { Legend } from './legend.tsx';
import type { Feature, MapModel } from './map-model.ts';
import { Pins } from './pins.tsx';
import { CM, placeAt, x, y } from './pose-geometry.ts';

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface MapProps extends Props {
  /** The map takes the pose that a person is about to set, and chooses no target. */
  readonly isPosing?: boolean;
  /** A moment of a recording, of which another part of the page says what it is. */
  readonly isRecorded?: boolean;
}

/**
 * The live map: floor plan, overlays, stations by name, charging station, other robots, and the robot with its heading. Pins keep their
 * size on the screen: the script sets `--zoom` on the layer that it moves.
 */
export function MapView(props: MapProps) {
  const { state, ui, t } = props;
  const { map } = ui;
  if (ui.act === null)
    return (
      <section class="map empty" aria-label={t.ui.map}>
        <p>{t.ui.mapNeedsScript}</p>
      </section>
    );
  if (map === 'loading' && !isAway(props)) return <section class="map empty" aria-label={t.ui.map} aria-busy="true" />;
  const model = typeof map === 'string' ? null : map;
  const box = boxOf(props, model);
  return (
    <section class="map" aria-label={t.ui.map}>
      <svg id="map" viewBox={`${box.left} ${box.top} ${box.width} ${box.height}`} aria-label={t.ui.map}>
        <g id="map-layer">
          {model?.plan && (
            <image
              class="plan"
              href={model.plan.href}
              x={x(model.origin.xM)}
              y={y(model.origin.yM + model.plan.heightM)}
              width={Math.round(model.plan.widthM * CM)}
              height={Math.round(model.plan.heightM * CM)}
            />
          )}
          {model && <Features features={model.features} />}
          <Way {...props} />
          <Pins {...props} isStill={props.isPosing === true || props.isRecorded === true} />
          {state.neighbours.map(
            (robot) =>
              robot.pose && (
                <g key={robot.serial} class={`neighbour ${robot.presence}`} transform={placeAt(robot.pose)}>
                  <g class="upright">
                    <circle r="9" />
                    <text y="24">{robot.serial}</text>
                  </g>
                </g>
              ),
          )}
          <Robot {...props} />
          {props.isPosing && <Draft {...props} />}
        </g>
      </svg>
      <div class="map-tools">
        <button type="button" aria-label={t.ui.zoomIn} onClick={() => ui.act?.zoom(1.5)}>
          +
        </button>
        <button type="button" aria-label={t.ui.zoomOut} onClick={() => ui.act?.zoom(1 / 1.5)}>
          −
        </button>
        <button type="button" aria-label={t.ui.follow} aria-pressed={ui.isFollowing} onClick={() => ui.act?.follow()}>
          <svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">
            <path class="target-icon" d="M12 3V8M12 16V21M3 12H8M16 12H21M12 6a6 6 0 1 1 0 12a6 6 0 1 1 0-12Z" />
          </svg>
        </button>
        {props.isPosing !== true && props.isRecorded !== true && <Legend t={t} />}
      </div>
      <p class="map-note">
        {isAway(props) && <strong class="away">{model === null ? t.ui.robotAway : t.ui.lastMap}</strong>}
        {isAway(props) && ' '}
        {[floorOf(props), mapNote(props, model), otherRobotsNote(props)].filter(Boolean).join(' · ')}
      </p>
    </section>
  );
}

/** Stations and the last map are shown also then, and the page says that they are no present position. */
const isAway = ({ state, isRecorded = false }: MapProps) => !isRecorded && state.link.kind !== 'connected';

const floorOf = ({ state: { map }, f }: MapProps) =>
  map.value === null ? null : f.named(map.value.name, map.value.title);

function mapNote(props: MapProps, model: MapModel | null): string {
  const { state, ui, t } = props;
  if (isAway(props) && state.map.value === null) return t.ui.noMapYet;
  if (ui.map === 'loading') return '';
  if (ui.map === 'too-large') return t.ui.tooLarge;
  if (model === null) return t.ui.noMap;
  if (model.isPartial) return t.ui.partOfMap;
  return model.plan === null ? t.ui.noPlan : '';
}

/** Robots that it does not show, since their places count in another map or in one that is not known. */
function otherRobotsNote({ state, t }: Props): string {
  const elsewhere = state.neighbours.filter(({ isOnThisMap, presence }) => isOnThisMap !== true && presence !== 'gone');
  return elsewhere.length === 0 ? '' : t.robotsElsewhere(elsewhere.length);
}

function Features({ features }: { readonly features: readonly Feature[] }) {
  return (
    <g class="features">
      {features.map((feature, index) =>
        feature.kind === 'point' ? (
          feature.paths.map(([place], nth) => (
            <circle key={`${index} ${nth}`} class="point" cx={x(place?.[0] ?? 0)} cy={y(place?.[1] ?? 0)} r="6">
              {feature.name && <title>{feature.name}</title>}
            </circle>
          ))
        ) : (
          <path key={index} class={feature.kind} d={pathOf(feature)}>
            {feature.name && <title>{feature.name}</title>}
          </path>
        ),
      )}
    </g>
  );
}

function pathOf({ kind, paths }: Feature): string {
  return paths
    .map((path) => `M${path.map(([px, py]) => `${x(px)} ${y(py)}`).join('L')}${kind === 'zone' ? 'Z' : ''}`)
    .join('');
}

/** The stations of the running tour in their order, from the one that it drives to. */
function Way({ state }: Props) {
  const { run, site, pose } = state;
  if (run === null || run.state !== 'running' || pose.value === null) return null;
  const ahead =
    run.kind === 'tour' ? run.stations.slice(run.at) : run.kind === 'drive' && run.name !== null ? [run.name] : [];
  const places = ahead.flatMap((name) => site.stations.find((station) => station.name === name) ?? []);
  const dock = run.kind === 'dock' && site.dock !== null ? [site.dock] : [];
  const points = [pose.value, ...places, ...dock];
  return <polyline class="way" points={points.map((at) => `${x(at.xM)},${y(at.yM)}`).join(' ')} />;
}

/**
 * An arrow along the heading: degrees counter-clockwise with y up, so clockwise on the screen; a disc where the heading is not
 * known. Its ring grows with the age of the pose.
 */
function Robot({ state, ui }: Props) {
  const { value, ageMs, stale } = state.pose;
  const { value: yawDeg, doubts } = state.heading;
  if (value === null) return null;
  const isOld = ui.isSilent || stale !== null || state.link.kind !== 'connected';
  return (
    <g
      id="robot"
      class={`robot${isOld ? ' old' : ''}${doubts.length > 0 ? ' doubtful' : ''}`}
      style={{ transform: `translate(${x(value.xM)}px, ${y(value.yM)}px)` }}
    >
      <g class="upright">
        <circle class="age" r={18 + Math.min(60, Math.max(0, (ageMs ?? 0) - 500) / 100)} />
        {yawDeg === null || doubts.includes('radians') ? (
          <circle class="no-heading" r="9" />
        ) : (
          <Arrow yawDeg={yawDeg} />
        )}
      </g>
    </g>
  );
}

function Arrow({ yawDeg }: { readonly yawDeg: number }) {
  return (
    <g class="arrow" transform={`rotate(${-yawDeg})`}>
      <path d="M18 0L-13 13L-6 0L-13 -13Z" />
    </g>
  );
}

/** The pose that is about to be set; without a heading only its place. */
function Draft({ ui }: Props) {
  const { xM, yM, yawDeg } = partsOf(ui.pose);
  if (xM === null || yM === null) return null;
  return (
    <g id="draft" class="draft" transform={placeAt({ xM, yM })}>
      <g class="upright">
        <circle r="24" />
        {yawDeg === null ? <circle class="place" r="5" /> : <Arrow yawDeg={yawDeg} />}
      </g>
    </g>
  );
}

/** Everything that must be in view at first, with a margin. */
function boxOf({ state }: Props, model: MapModel | null): Box {
  const { site, pose } = state;
  const places = [...site.stations, ...(site.dock === null ? [] : [site.dock])];
  const isNear = ({ xM, yM }: { readonly xM: number; readonly yM: number }) =>
    Math.abs(xM) <= 10_000 && Math.abs(yM) <= 10_000;
  const corners = model?.plan
    ? [model.origin, { xM: model.origin.xM + model.plan.widthM, yM: model.origin.yM + model.plan.heightM }]
    : [];
  // Not the robot, where anything else is known: the map would move with it.
  const fixed = [...places, ...corners].filter(isNear);
  const all = fixed.length > 0 || pose.value === null ? fixed : [pose.value];
  if (all.length === 0) return { left: -500, top: -500, width: 1000, height: 1000 };
  const xs = all.map(({ xM }) => x(xM));
  const ys = all.map(({ yM }) => y(yM));
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const margin = Math.max(60, 0.1 * Math.max(right - left, bottom - top));
  return {
    left: left - margin,
    top: top - margin,
    width: right - left + 2 * margin,
    height: bottom - top + 2 * margin,
  };
}
