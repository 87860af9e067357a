import { create } from 'zustand';

interface SearchState {
  text: string;
  libraryIds: string[];
  documents: { id: string; title: string }[];
}

/** Keeps the query while a result is open. */
export const useSearchState = create<SearchState>(() => ({
  text: '',
  libraryIds: [],
  documents: [],
}));
