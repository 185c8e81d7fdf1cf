import type { Live, PageState } from '../model.ts';
import type { Props } from '../ui.ts';

export type ValueKey = 'pose' | 'heading' | 'battery' | 'positioning' | 'wheels' | 'planning' | 'alerts' | 'map';

const writers: { readonly [K in ValueKey]: (value: never, props: Props) => string } = {
  pose: (value: NonNullable<PageState['pose']['value']>, { f }) =>
    `x ${f.number(value.xM, 2)} m, y ${f.number(value.yM, 2)} m`,
  heading: (value: number, { f }) => `${f.number(value, 1)}°`,
  battery: ({ percent, orPercent, status }: NonNullable<PageState['battery']['value']>, { t, f }) =>
    `${f.number(percent, 0)} %${orPercent === null ? '' : ` ${t.ui.or} ${f.number(orPercent, 1)} %`} (${t.ui.batteryState(status)})`,
  positioning: ({ quality }: NonNullable<PageState['positioning']['value']>, { t }) => t.ui.quality(quality),
  wheels: ({ emergencyStopPressed, controlMode, wheelsReleased }: NonNullable<PageState['wheels']['value']>, { t }) =>
    [
      emergencyStopPressed ? t.ui.emergencyStopPressed : t.ui.emergencyStopReleased,
      t.ui.mode(controlMode),
      ...(wheelsReleased === true ? [t.ui.wheelsReleased] : []),
    ].join(', '),
  planning: (value: NonNullable<PageState['planning']['value']>, { t, f }) => {
    const { moveState, failReason, remainingDistanceM } = value;
    return [
      t.ui.moveState(moveState),
      ...(remainingDistanceM === null ? [] : [t.ui.remaining(f.number(remainingDistanceM, 2))]),
      ...(failReason === 0 ? [] : [t.failReason(failReason)]),
    ].join(', ');
  },
  alerts: (value: NonNullable<PageState['alerts']['value']>, { t }) =>
    value.length === 0
      ? t.ui.none
      : value
          .map(({ code, level, message }) => `${code} ${t.ui.alertLevel(level)}${message === '' ? '' : `: ${message}`}`)
          .join('\n'),
  map: ({ name, title, mapVersion, overlaysVersion }: NonNullable<PageState['map']['value']>, { t, f }) =>
    [
      f.named(name, title),
      ...(mapVersion === null ? [] : [`${t.ui.mapVersion} ${mapVersion}`]),
      ...(overlaysVersion === null ? [] : [`${t.ui.overlaysVersion} ${overlaysVersion}`]),
    ].join(', '),
};

/** The reason precedes the value, so that a screen reader reads it first. */
export function Value({ of, ...props }: Props & { readonly of: ValueKey }) {
  const doubt = doubtText(of, props);
  return (
    <span class="lines" data-value={of}>
      {doubt !== '' && <span class="doubt">{doubt}: </span>}
      <span class={doubt === '' ? 'value' : 'value struck'}>{valueText(of, props)}</span>
    </span>
  );
}

/** A value in words of this language. */
export function valueText(key: ValueKey, { state, t, f }: Props): string {
  const live: Live<unknown> = state[key];
  if (live.value === null) return live.isUnreadable ? t.ui.notReadable : t.ui.notReceived;
  return writers[key](live.value as never, { state, t, f } as Props);
}

/** Why a value is not reliable; empty when it is. A value with a doubt is struck out. */
export function doubtText(key: ValueKey, { state, ui, t }: Props): string {
  const live = state[key];
  if (live.value === null) return '';
  if (ui.isSilent) return t.ui.noGateway;
  return [...live.doubts.map((doubt) => t.doubts[doubt]), ...(live.stale === null ? [] : [t.stale[live.stale]])].join(
    '; ',
  );
}

/** Age of the value; empty where it would make an old value look recent. */
export function ageText(key: ValueKey, { state, ui, t, f }: Props): string {
  const { ageMs, value } = state[key];
  return ui.isSilent || ageMs === null || value === null ? '' : t.ui.ago(f.span(ageMs));
}

const rows: readonly ValueKey[] = ['positioning', 'wheels', 'alerts'];

/** What staff may want to know beside the map. */
export function Values(props: Props) {
  const { t } = props;
  const titles = { positioning: t.ui.positioning, wheels: t.ui.drive, alerts: t.ui.alerts } as Record<ValueKey, string>;
  return (
    <dl class="values">
      {rows.map((key) => (
        <div key={key}>
          <dt>{titles[key]}</dt>
          <dd>
            <Value of={key} {...props} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The battery as a picture with its number. */
export function Battery(props: Props) {
  const { state, t, f } = props;
  const { value } = state.battery;
  const doubt = doubtText('battery', props);
  if (value === null) return <span class="battery">{`${t.ui.battery}: ${valueText('battery', props)}`}</span>;
  const shown = (
    <>
      {`${f.number(value.percent, 0)} %`} <small>{t.ui.batteryState(value.status)}</small>
    </>
  );
  const share = Math.min(100, Math.max(0, value.percent));
  const level = share < 10 ? 'bad' : share < 20 ? 'attention' : 'good';
  return (
    <span
      class="battery"
      data-level={doubt === '' ? level : 'unknown'}
      title={`${t.ui.battery}: ${valueText('battery', props)}`}
    >
      <svg viewBox="0 0 44 20" width="44" height="20" aria-hidden="true">
        <rect x="1" y="1" width="38" height="18" rx="3" class="case" />
        <rect x="40" y="6" width="3" height="8" class="tip" />
        <rect x="3" y="3" width={(34 * share) / 100} height="14" class="charge" />
        {value.status === 'charging' && doubt === '' && <path d="M22 2L14 11H20L18 18L27 8H21Z" class="bolt" />}
      </svg>{' '}
      {doubt === '' ? shown : <s title={doubt}>{shown}</s>}
    </span>
  );
}
