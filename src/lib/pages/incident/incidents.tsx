import { MapView } from '../map/map-view.tsx';
import type { Props } from '../ui.ts';
import { causeText } from './cause-text.ts';
import { incidentEvents } from './incident-events.ts';
import type { IncidentHead, IncidentList } from './incident-model.ts';
import type { IncidentsView } from './incidents-view.ts';
import { momentOf, type Recording, replayState } from './replay.ts';

/** The list of the incidents, loaded when it is opened, and the replay of one of them. */
export function Incidents(props: Props) {
  const { ui, t } = props;
  return (
    <details
      id="incidents"
      class="part plain"
      onToggle={(event) => ui.act?.openIncidents((event.currentTarget as unknown as { readonly open: boolean }).open)}
    >
      <summary>
        <h2>{t.incident.title}</h2>
      </summary>
      {ui.act === null ? <p>{t.incident.needScript}</p> : <List {...props} />}
      <Shown {...props} />
    </details>
  );
}

function List(props: Props) {
  const { viewer, ui, t } = props;
  const { list } = ui.incidents;
  if (list === 'closed') return null;
  if (list === 'loading') return <p aria-busy="true">{t.service.loading}</p>;
  if (list === 'none') return <p class="doubt">{t.incident.missing}</p>;
  const { incidents, unreadable, folderProblem, notKept } = list;
  return (
    <>
      <p class="quiet">{t.incident.hint}</p>
      {!viewer.signedIn && (
        <p>
          {t.incident.needSignIn} {!viewer.readOnly && <a href="/anmeldung">{t.ui.signInLink}</a>}
        </p>
      )}
      {notKept !== null && (
        <p class="doubt">
          {t.incident.notKept(notKept.count)}{' '}
          <small lang="en" class="technical">
            {notKept.reason}
          </small>
        </p>
      )}
      {folderProblem !== null && (
        <p class="doubt">
          {t.incident.noFolder}{' '}
          <small lang="en" class="technical">
            {folderProblem}
          </small>
        </p>
      )}
      {unreadable > 0 && <p class="doubt">{t.incident.unreadable(unreadable)}</p>}
      {incidents.length === 0 && folderProblem === null && <p>{t.incident.none}</p>}
      <ol class="incidents">
        {incidents.map((head) => (
          <Entry key={head.id} head={head} list={list} {...props} />
        ))}
      </ol>
    </>
  );
}

function Entry({ head, list, viewer, ui, t, f }: Props & { readonly head: IncidentHead; readonly list: IncidentList }) {
  const { id, at, causes, moreCauses, isComplete } = head;
  const isShown = ui.incidents.shown !== null && shownId(ui.incidents.shown) === id;
  return (
    <li aria-current={isShown ? 'true' : undefined}>
      <span class="number">{id}</span>
      <div class="what">
        <time dateTime={at}>{f.time(at)}</time>
        <p>
          {causes.map((cause) => causeText(cause, t, f)).join(' · ')}
          {moreCauses > 0 && ` ${t.incident.moreCauses(moreCauses)}`}
        </p>
        {!isComplete && <small>{list.recording === id ? t.incident.recording : t.incident.cutShort}</small>}
      </div>
      {viewer.signedIn && (
        <span class="buttons">
          <button type="button" aria-label={t.incident.openNumber(id)} onClick={() => ui.act?.showIncident(id)}>
            {t.incident.open}
          </button>
          <a class="button" href={`/api/vorfaelle/${id}`} download aria-label={t.incident.downloadNumber(id)}>
            {t.incident.download}
          </a>
        </span>
      )}
    </li>
  );
}

const shownId = (shown: NonNullable<IncidentsView['shown']>) => (shown.state === 'shown' ? shown.head.id : shown.id);

function Shown(props: Props) {
  const { ui, t } = props;
  const { shown } = ui.incidents;
  if (shown === null) return null;
  if (shown.state === 'loading') return <p aria-busy="true">{t.service.loading}</p>;
  if (shown.state === 'refused')
    return (
      <p class="alarm" role="alert">
        {t.refusals[shown.code] ?? t.ui.notPossible}
      </p>
    );
  return <Replay {...props} recording={shown} atMs={shown.atMs} isPlaying={shown.isPlaying} />;
}

interface ReplayProps extends Props {
  readonly recording: Recording;
  readonly atMs: number;
  readonly isPlaying: boolean;
}

/** The same map at a moment of the recording, and what happened in words. It is framed, since it is not the present. */
function Replay({ recording, atMs, isPlaying, ...props }: ReplayProps) {
  const { viewer, ui, t, f } = props;
  const { head, body } = recording;
  const state = replayState(recording, atMs);
  const mapUid = state?.map.value?.uid;
  const isOtherMap = mapUid === undefined || mapUid !== props.state.map.value?.uid;
  const events = incidentEvents(recording, t, f);
  const offset = (ms: number) => t.incident.offset(`${ms < 0 ? '−' : '+'}${f.number(Math.abs(ms) / 1000, 1)}`);
  const current = events.findLastIndex((event) => event.atMs <= atMs);
  const { leftOut } = body;
  return (
    <section class="replay" aria-label={t.incident.number(head.id)}>
      <header>
        <h3>{t.incident.replay(head.id, f.time(head.at))}</h3>
        <button type="button" onClick={() => ui.act?.showIncident(null)}>
          {t.incident.close}
        </button>
      </header>
      <div class="stage">
        {state !== null && (
          <MapView
            {...props}
            isRecorded
            state={state}
            viewer={{ ...viewer, readOnly: true }}
            ui={{ ...ui, isSilent: false, choice: null, isFollowing: false, ...(isOtherMap && { map: 'none' }) }}
          />
        )}
        {isOtherMap && <p class="doubt">{mapUid === undefined ? t.incident.unknownMap : t.incident.otherMap}</p>}
        <div class="time">
          <button type="button" aria-pressed={isPlaying} onClick={() => ui.act?.play(!isPlaying)}>
            {isPlaying ? t.incident.pause : t.incident.play}
          </button>
          <input
            type="range"
            aria-label={t.incident.moment}
            aria-valuetext={offset(atMs)}
            min={head.fromMs}
            max={head.toMs}
            step={100}
            value={atMs}
            onInput={(event) =>
              ui.act?.seek(Number((event.currentTarget as unknown as { readonly value: string }).value))
            }
          />
          <output>
            {f.time(momentOf(head, atMs))} <b>{offset(atMs)}</b>
          </output>
        </div>
      </div>
      <div class="happened">
        <h3>{t.incident.events}</h3>
        <ol class="events">
          {events.map((event, index) => (
            <li key={index} data-kind={event.kind} aria-current={index === current ? 'step' : undefined}>
              <button type="button" class="moment" onClick={() => ui.act?.seek(event.atMs)}>
                <span class="offset">{offset(event.atMs)}</span> {event.text}
              </button>
            </li>
          ))}
        </ol>
      </div>
      {leftOut.poses + leftOut.scenes + leftOut.log > 0 && <p class="doubt whole">{t.incident.leftOut}</p>}
      <details class="part plain whole">
        <summary>
          <h3>{t.incident.logOf}</h3>
        </summary>
        {body.log.length === 0 && <p>{t.incident.logEmpty}</p>}
        <ol class="log">
          {body.log.map((entry, index) => (
            <li key={index} data-level={entry.level}>
              <span class="level">{t.service.logLevels[entry.level]}</span> {offset(entry.atMs)}
              {entry.count > 1 && <span> {t.service.times(entry.count)}</span>}
              <p lang="en">{entry.message}</p>
              <small lang="en" class="technical">
                {Object.entries(entry.fields)
                  .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
                  .join(', ')}
              </small>
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}
