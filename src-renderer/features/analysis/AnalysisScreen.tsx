import { useRoute, useSearch } from 'wouter';
import { AnalysisList } from './AnalysisList.tsx';
import { AnalysisView } from './AnalysisView.tsx';
import { NewAnalysis } from './NewAnalysis.tsx';
import classes from './Analysis.module.css';

/** The list of analyses, and next to it the selected analysis or the form for a new one. */
export default function AnalysisScreen() {
  const [isOne, route] = useRoute('/analysis/:id');
  const query = new URLSearchParams(useSearch());
  const id = isOne ? decodeURIComponent(route.id) : 'new';
  return (
    <div className={classes.screen}>
      <AnalysisList activeId={id} />
      <div className={classes.side}>
        {id === 'new' ? (
          <NewAnalysis
            key={query.toString()}
            kind={query.get('kind') === 'questions' ? 'questions' : 'document'}
            documentId={query.get('document') ?? undefined}
            instruction={query.get('instruction') ?? ''}
          />
        ) : (
          <AnalysisView key={id} id={id} />
        )}
      </div>
    </div>
  );
}
