import { useRoute } from 'wouter';
import { DocumentPage } from './document/DocumentPage.tsx';
import { LibraryHome } from './LibraryHome.tsx';

/** Libraries with their documents, and the page of a single document. */
export default function LibraryScreen() {
  const [isDocument, document] = useRoute('/document/:id');
  const [isLibrary, library] = useRoute('/library/:id');
  if (isDocument) return <DocumentPage key={document.id} id={decodeURIComponent(document.id)} />;
  return <LibraryHome id={isLibrary ? decodeURIComponent(library.id) : undefined} />;
}
