import { Countdown } from '../delivery/countdown.tsx';
import { Days } from '../delivery/days.tsx';
import { Banners, Header, StopBar, Truth } from '../document.tsx';
import { Incidents } from '../incident/incidents.tsx';
import type { Cell, Lamp } from '../model.ts';
import { ageText, Value, type ValueKey } from '../surface/values.tsx';
import { cellText } from '../texts/catalogue.ts';
import type { LabelCode } from '../texts/texts.ts';
import type { Props } from '../ui.ts';
import { Charts } from './charts.tsx';
import { Log } from './log.tsx';
import { SetPose } from './set-pose.tsx';

/** The technician page: a line of lamps, worst first, each with its details; then values with their evidence. */
export function Service(props: Props) {
  const { state, viewer, ui, t } = props;
  return (
    <div class="service" data-stop={state.stop.latched ? 'latched' : 'free'} data-silent={ui.isSilent ? '' : undefined}>
      <Header site={state.site.title ?? state.site.name} kind="service" t={t} viewer={viewer} />
      <Banners t={t} viewer={viewer} />
      <Truth {...props} isTechnical />
      <Countdown {...props} />
      <main>
        <Support {...props} />
        <nav class="lamps" aria-label={t.ui.lamps}>
          {state.lamps.map(({ id, level }) => (
            <a key={id} href={`#${id}`} class="lamp" data-level={ui.isSilent ? 'unknown' : level}>
              {t.lamps[id]}
            </a>
          ))}
        </nav>
        <ToProve {...props} />
        <section>
          <h2>{t.ui.values}</h2>
          <ValueTable {...props} />
        </section>
        <Charts {...props} />
        <Incidents {...props} />
        {/* One map at a time: a pose is not set beside a recording. */}
        {ui.incidents.shown === null && <SetPose {...props} />}
        {state.lamps.map((lamp) => (
          <LampSection key={lamp.id} lamp={lamp} {...props} />
        ))}
        <Days {...props} />
        <Log {...props} />
      </main>
      {!viewer.readOnly && (
        <footer>
          <StopBar {...props} />
        </footer>
      )}
    </div>
  );
}

function LampSection({ lamp, ...props }: Props & { readonly lamp: Lamp }) {
  const { ui, t } = props;
  const { id, level, state, rows } = lamp;
  return (
    <details id={id} class="part" open={level !== 'good' && level !== 'off'}>
      <summary data-level={ui.isSilent ? 'unknown' : level}>
        <h2>{t.lamps[id]}</h2>
        <span class="level">{ui.isSilent ? t.ui.noGateway : t.levels[level]}</span>
        {!ui.isSilent && level !== 'off' && (
          <span class="lines">
            <Cells cells={state} {...props} />
          </span>
        )}
      </summary>
      {!ui.isSilent && rows.length > 0 && (
        <dl>
          {rows.map(({ label, cells }, index) => (
            <div key={`${label} ${index}`}>
              <dt>{t.labels[label as LabelCode]}</dt>
              <dd class="lines">
                <Cells cells={cells} {...props} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}

/** Parts of a value in a line. Sentences of programs are English on every page, and marked so. */
function Cells({ cells, t, f }: Pick<Props, 't' | 'f'> & { readonly cells: readonly Cell[] }) {
  return (
    <>
      {cells.map((cell, index) => {
        const gap = index === 0 ? '' : ' ';
        if ('technical' in cell) {
          return (
            <small key={index} lang="en" class="technical">
              {gap}
              {cell.technical}
            </small>
          );
        }
        return `${gap}${cellText(cell, t, f)}`;
      })}
    </>
  );
}

/** The facts that an order relies on and that are not verified on this robot yet, with the command that does. */
function ToProve({ state, ui, t }: Props) {
  const { unverified } = state.gate;
  if (ui.isSilent || unverified.length === 0) return null;
  return (
    <section>
      <h2>{t.ui.stillToProve}</h2>
      <ul class="to-prove">
        {unverified.map((id) => (
          <li key={id}>
            {t.facts[id] ?? id} <small>{id}</small>
          </li>
        ))}
      </ul>
      <p>
        {t.ui.proveCommand}: <code>gw evidence verify</code>
      </p>
    </section>
  );
}

const valueRows: readonly ValueKey[] = [
  'pose',
  'heading',
  'planning',
  'battery',
  'wheels',
  'positioning',
  'alerts',
  'map',
];

function ValueTable(props: Props) {
  const { state, t } = props;
  const { ui } = t;
  const titles: Readonly<Record<ValueKey, string>> = {
    pose: ui.position,
    heading: ui.heading,
    planning: ui.order,
    battery: ui.battery,
    wheels: ui.drive,
    positioning: ui.positioning,
    alerts: ui.alerts,
    map: ui.map,
  };
  return (
    <table>
      <thead>
        <tr>
          <th>{ui.quantity}</th>
          <th>{ui.value}</th>
          <th>{ui.age}</th>
          <th>{ui.evidence}</th>
        </tr>
      </thead>
      <tbody>
        {valueRows.map((key) => {
          const { mark, basis, source, doubts } = state[key];
          return (
            <tr key={key}>
              <th scope="row">{titles[key]}</th>
              <td>
                <Value of={key} {...props} />
              </td>
              <td class="age">{ageText(key, props)}</td>
              <td>
                {doubts.includes('radians')
                  ? ui.contradicted
                  : mark !== null && basis !== null && `${mark} ${t.basis[basis]}`}{' '}
                {source !== null && (
                  <small lang="en" class="technical">
                    {source}
                  </small>
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A running session of remote support, which anyone at the robot may end. */
function Support({ state, viewer, ui, t, f }: Props) {
  const { support } = state;
  if (support === null || ui.isSilent) return null;
  const texts = {
    connected: t.ui.supportConnected,
    connecting: t.ui.supportConnecting,
    'not-checked': t.ui.supportNotChecked,
  };
  const rows = [
    [t.ui.supportSince, `${f.time(support.since)} (${t.ui.ago(f.span(support.forMs))})`],
    [t.ui.supportUntil, t.ui.in(f.span(support.leftMs))],
    [t.ui.supportServices, support.services.join(', ')],
    [t.ui.supportOpen, support.open === null ? t.ui.notReported : `${support.open}`],
  ] as const;
  return (
    <section class="support">
      <h2 aria-live="polite">{t.ui.supportRunning}</h2>
      <p>{texts[support.state]}</p>
      <dl>
        {rows.map(([title, text]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {viewer.readOnly ? (
        <p>{t.ui.endSupportOnSite}</p>
      ) : (
        <form method="post" action="/api/wartung/sitzung/ende">
          <button type="submit">
            {t.ui.endSupport} <small>{t.ui.endSupportHint}</small>
          </button>
        </form>
      )}
    </section>
  );
}
