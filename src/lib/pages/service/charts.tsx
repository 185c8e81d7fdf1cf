import type { LastHour } from '../last-hour.ts';
import type { Props } from '../ui.ts';

const HOUR_MS = 3_600_000;
/** Of the picture: ten seconds a unit; stretched to its place by the style. */
const WIDTH = 360;
const HEIGHT = 60;
/** So that strokes at the edges are whole. */
const EDGE = 3;

/** What a chart shows: numbers from 0 to `max`, null where nothing was known. */
interface Chart {
  readonly id: string;
  readonly name: string;
  readonly values: readonly (number | null)[];
  readonly max: number;
  readonly text: (value: number) => string;
  /** A state holds until the next sample; other values are connected by lines. */
  readonly isState?: true;
}

/** The last hour of battery, speed, pose and link, for the technician. */
export function Charts(props: Props) {
  const { ui, t } = props;
  const { lastHour } = ui;
  return (
    <section class="charts" aria-labelledby="charts-title">
      <h2 id="charts-title">{t.service.lastHour}</h2>
      {ui.act === null ? (
        <p>{t.service.lastHourNeedsScript}</p>
      ) : ui.isSilent ? (
        <p>{t.ui.noGateway}</p>
      ) : typeof lastHour === 'string' ? (
        <p aria-busy={lastHour === 'loading'}>
          {lastHour === 'loading' ? t.service.loading : t.service.lastHourMissing}
        </p>
      ) : (
        <>
          <p class="quiet">{t.service.lastHourHint}</p>
          <div class="chart-row">
            {chartsOf(lastHour, props).map((chart) => (
              <Picture key={chart.id} chart={chart} hour={lastHour} t={t} />
            ))}
          </div>
        </>
      )}
    </section>
  );
}

function chartsOf(
  { batteryPercent, poseAgeMs, speedMS, roundTripMs, connected }: LastHour,
  { t, f }: Props,
): readonly Chart[] {
  const seconds = (ms: number) => `${f.number(ms / 1_000, ms % 1_000 === 0 || ms > 10_000 ? 0 : 2)}\u00a0s`;
  return [
    {
      id: 'battery',
      name: t.ui.battery,
      values: batteryPercent,
      max: 100,
      text: (percent) => `${f.number(percent, 0)}\u00a0%`,
    },
    {
      id: 'speed',
      name: t.service.speed,
      values: speedMS,
      max: scaleOf(speedMS, 1),
      text: (speed) => `${f.number(speed, 2)}\u00a0m/s`,
    },
    { id: 'pose-age', name: t.service.poseAge, values: poseAgeMs, max: scaleOf(poseAgeMs, 1_000), text: seconds },
    {
      id: 'round-trip',
      name: t.service.roundTrip,
      values: roundTripMs,
      max: scaleOf(roundTripMs, 100),
      text: (ms) => `${f.number(ms, ms < 10 && ms > 0 ? 1 : 0)}\u00a0ms`,
    },
    {
      id: 'link',
      name: t.service.link,
      values: connected.map((is) => (is === null ? null : Number(is))),
      max: 1,
      text: (is) => t.words[is === 0 ? 'not-connected' : 'connected'],
      isState: true,
    },
  ];
}

/** The end of a scale: a round number from `least` on that no value exceeds. */
function scaleOf(values: readonly (number | null)[], least: number): number {
  const largest = Math.max(0, ...values.filter((value) => value !== null));
  let max = least;
  for (const factor of [2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2]) if (largest > max) max *= factor;
  return Math.max(max, largest);
}

function Picture({ chart, hour, t }: Pick<Props, 't'> & { readonly chart: Chart; readonly hour: LastHour }) {
  const { id, name, values, max, text, isState } = chart;
  const known = values.filter((value) => value !== null);
  const newest = values.at(-1) ?? null;
  const newestText = newest === null ? t.words['not-known'] : text(newest);
  const range = known.length === 0 ? t.service.noValues : rangeText();

  function rangeText(): string {
    const [low, high] = [Math.min(...known), Math.max(...known)];
    return low === high ? t.service.always(text(low)) : t.service.between(text(low), text(high));
  }

  return (
    <figure class="chart" data-chart={id}>
      <figcaption>
        {name} <strong>{newestText}</strong>
      </figcaption>
      <div class="plot">
        <small>{text(max)}</small>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-labelledby={`chart-${id}`}>
          <title id={`chart-${id}`}>{t.service.chartTitle(name, newestText, range)}</title>
          <path class="frame" d={`M0 ${EDGE}H${WIDTH}M0 ${HEIGHT - EDGE}H${WIDTH}`} />
          <path class="trend" d={linePath(values, hour, max, isState)} />
        </svg>
        <small>{text(0)}</small>
      </div>
      <p class="times">
        <small>{t.service.hourAgo}</small> <small>{t.service.now}</small>
      </p>
    </figure>
  );
}

/** The known values as a path that ends wherever nothing was known. Exported for its test. */
export function linePath(
  values: readonly (number | null)[],
  { ageMs, sampleMs }: Pick<LastHour, 'ageMs' | 'sampleMs'>,
  max: number,
  isState = false,
): string {
  const rounded = (value: number) => Math.round(value * 100) / 100;
  const x = (index: number) => {
    const agoMs = ageMs + (values.length - 1 - index) * sampleMs;
    return rounded(WIDTH * (1 - agoMs / HOUR_MS));
  };
  const y = (value: number) => rounded(HEIGHT - EDGE - (value / max) * (HEIGHT - 2 * EDGE));
  let isOpen = false;
  return values
    .map((value, index) => {
      const wasOpen = isOpen;
      isOpen = value !== null;
      if (value === null) return '';
      // A single value is a dot: a path of no length with round ends.
      if (!wasOpen) return `M${x(index)} ${y(value)}h0`;
      return isState ? `H${x(index)}V${y(value)}` : `L${x(index)} ${y(value)}`;
    })
    .join('');
}
