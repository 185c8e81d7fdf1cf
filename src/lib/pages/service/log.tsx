import type { Props } from '../ui.ts';
import type { LogEntry } from './log-entries.ts';

/** The last log events, for signed-in persons on site; loaded when it is opened. */
export function Log(props: Props) {
  const { viewer, ui, t } = props;
  if (viewer.readOnly) return null;
  if (!viewer.signedIn) {
    return (
      <section id="log">
        <h2>{t.service.log}</h2>
        <p>
          {t.service.logNeedsSignIn} <a href="/anmeldung">{t.ui.signInLink}</a>
        </p>
      </section>
    );
  }
  return (
    <details
      id="log"
      class="part plain"
      onToggle={(event) => ui.act?.openLog((event.currentTarget as unknown as { readonly open: boolean }).open)}
    >
      <summary>
        <h2>{t.service.log}</h2>
      </summary>
      {ui.act === null ? <p>{t.service.logNeedsScript}</p> : <Entries {...props} />}
    </details>
  );
}

function Entries({ ui, t, f }: Props) {
  const { log } = ui;
  switch (log.state) {
    case 'closed':
      return null;
    case 'loading':
      return <p aria-busy="true">{t.service.loading}</p>;
    case 'refused':
      return (
        <p class="alarm" role="alert">
          {t.refusals[log.code] ?? t.ui.notPossible}
        </p>
      );
    case 'shown':
      return (
        <>
          <p class="quiet">{log.entries.length === 0 ? t.service.logEmpty : t.service.logHint}</p>
          <ol class="log">
            {log.entries.map((entry, index) => (
              <Entry key={index} entry={entry} t={t} f={f} />
            ))}
          </ol>
        </>
      );
  }
}

function Entry({ entry, t, f }: Pick<Props, 't' | 'f'> & { readonly entry: LogEntry }) {
  const { time, level, message, details, count } = entry;
  return (
    <li data-level={level}>
      <span class="level">{t.service.logLevels[level]}</span> <time dateTime={time}>{f.time(time)}</time>
      {count > 1 && <span> {t.service.times(count)}</span>}
      <p lang="en">{message}</p>
      {details !== '' && (
        <small lang="en" class="technical">
          {details}
        </small>
      )}
    </li>
  );
}
