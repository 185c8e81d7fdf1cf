import { besidePose } from '../beside-pose.tsx';
import { mayGo, type Props } from '../ui.ts';
import { type Choice, choiceText } from '../viewer.ts';
import { Finder } from './finder.tsx';
import { groupsOf, SEARCH_FROM, type Station, searchStations } from './search.ts';

/** Stations and tours: a touch chooses, and the sheet asks. What was used last and what a search found come first. */
export const Orders = besidePose(function Orders(props: Props) {
  const { state, viewer, ui, t } = props;
  const { stations, tours, dock, needsSignIn } = state.site;
  if (viewer.readOnly) return null;
  const found = searchStations(stations, ui.query);
  const isMany = stations.length >= SEARCH_FROM;
  const isSearching = isMany && ui.query.trim() !== '';
  return (
    <section class="orders" aria-labelledby="orders-title">
      <h2 id="orders-title" tabIndex={-1}>
        {t.ui.where}
      </h2>
      {needsSignIn && !viewer.signedIn && (
        <p class="hint">
          {t.ui.signInToGo} <a href="/anmeldung">{t.ui.signInLink}</a>
        </p>
      )}
      {isMany && <Finder {...props} found={found.length} />}
      <div class="list">
        {stations.length === 0 && tours.length === 0 && dock === null && <p>{t.ui.noStations}</p>}
        {isSearching ? (
          <Stations {...props} of={found} />
        ) : (
          <>
            {isMany && <LastUsed {...props} />}
            <Groups {...props} />
            <Tours {...props} />
          </>
        )}
      </div>
    </section>
  );
});

/** The way home, in view wherever the list is. */
export function Home(props: Props) {
  const { state, t } = props;
  if (state.site.dock === null) return null;
  return (
    <ul class="targets home">
      <Target {...props} choice={{ kind: 'dock' }} title={t.ui.dock} />
    </ul>
  );
}

function Stations({ of, ...props }: Props & { readonly of: readonly Station[] }) {
  return (
    <ul class="targets">
      {of.map(({ name, title }) => (
        <Target {...props} key={name} choice={{ kind: 'station', name }} title={props.f.label(name, title)} />
      ))}
    </ul>
  );
}

function LastUsed(props: Props) {
  const { stations, recent } = props.state.site;
  const last = recent.flatMap((name) => stations.find((station) => station.name === name) ?? []);
  if (last.length === 0) return null;
  return (
    <>
      <h3>{props.t.ui.lastUsed}</h3>
      <Stations {...props} of={last} />
      {stations.every(({ group }) => group === undefined) && <h3>{props.t.ui.allStations}</h3>}
    </>
  );
}

function Groups(props: Props) {
  const groups = groupsOf(props.state.site.stations, props.viewer.language);
  return groups.map(({ title, stations }) => (
    <div key={title}>
      {groups.length > 1 && (
        <h3>
          <bdi>{title ?? props.t.ui.otherStations}</bdi>
        </h3>
      )}
      <Stations {...props} of={stations} />
    </div>
  ));
}

function Tours(props: Props) {
  const { state, t, f } = props;
  const { tours, stations } = state.site;
  const named = (key: string) => f.named(key, stations.find(({ name }) => name === key)?.title);
  if (tours.length === 0) return null;
  return (
    <>
      <h2>{t.ui.tours}</h2>
      <ul class="targets">
        {tours.map(({ name, title, stations: via }) => (
          <Target
            {...props}
            key={name}
            choice={{ kind: 'tour', name }}
            title={f.label(name, title)}
            detail={via.map(named).join(' → ')}
          />
        ))}
      </ul>
    </>
  );
}

interface TargetProps extends Props {
  readonly choice: Choice;
  readonly title: string;
  readonly detail?: string;
}

function Target({ choice, title, detail, ...props }: TargetProps) {
  const { ui } = props;
  const isChosen = ui.choice !== null && choiceText(ui.choice) === choiceText(choice);
  return (
    <li>
      <a
        class={`target${isChosen ? ' chosen' : ''}${mayGo(props, choice) ? '' : ' waiting'}`}
        href={`/?ziel=${encodeURIComponent(choiceText(choice))}`}
        aria-current={isChosen ? 'true' : undefined}
        onClick={(event) => {
          if (ui.act === null) return;
          event.preventDefault();
          ui.act.choose(choice);
        }}
      >
        <bdi>{title}</bdi>
        {detail !== undefined && <small>{detail}</small>}
      </a>
    </li>
  );
}
