"""Writes all-MiniLM-L6-v2 (a folder with model.safetensors, config.json and tokenizer.json) as a GGUF file.

    python minilm-to-gguf.py FOLDER FILE.gguf

Needs the packages gguf and numpy. Matrices become f16, all other tensors stay f32. Keys and tensor names are llama.cpp's
for the architecture "bert". There, words of a WordPiece vocabulary begin with U+2581, while the original marks
continuations of a word with "##".
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np

SPACE = "\u2581"


def tensors(path: Path):
    """Yields the f32 tensors of a safetensors file by name. Layout: header length (eight bytes), header, data."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        yield name, np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"])


def word(text: str, special: bool) -> str:
    if special:
        return text
    return text[2:] if text.startswith("##") else SPACE + text


def add_vocabulary(writer: gguf.GGUFWriter, folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    special = {token["content"] for token in tokenizer["added_tokens"]}
    words = sorted(vocabulary, key=vocabulary.get)
    kinds = [gguf.TokenType.CONTROL if text in special else gguf.TokenType.NORMAL for text in words]
    writer.add_tokenizer_model("bert")
    writer.add_token_list([word(text, text in special) for text in words])
    writer.add_token_types(kinds)
    writer.add_token_type_count(2)
    writer.add_bos_token_id(vocabulary["[CLS]"])
    writer.add_sep_token_id(vocabulary["[SEP]"])
    writer.add_unk_token_id(vocabulary["[UNK]"])
    writer.add_pad_token_id(vocabulary["[PAD]"])
    writer.add_mask_token_id(vocabulary["[MASK]"])


def add_hyperparameters(writer: gguf.GGUFWriter, folder: Path) -> int:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    return config["num_hidden_layers"]


def main(folder: Path, target: Path) -> None:
    writer = gguf.GGUFWriter(target, "bert")
    layers = add_hyperparameters(writer, folder)
    add_vocabulary(writer, folder)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers)
    for name, values in tensors(folder / "model.safetensors"):
        ours = names.get_name(name.removeprefix("bert."), try_suffixes=(".weight", ".bias"))
        if ours is None:  # the pooler, which mean pooling does not use
            continue
        # Positions and token types are added to f32 and read row by row; norms and biases are vectors.
        is_matrix = values.ndim == 2 and not ours.startswith(("position_embd", "token_types"))
        writer.add_tensor(ours, values.astype(np.float16 if is_matrix else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
