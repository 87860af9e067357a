import { create } from 'zustand';

interface SearchState {
  text: string;
  libraryIds: string[];
  documents: { id: string; title: string }[];
}

/** What was searched for stays while a result is looked at. */
export const useSearchState = create<SearchState>(() => ({
  text: '',
  libraryIds: [],
  documents: [],
}));
