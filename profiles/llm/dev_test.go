package llm

import (
	"testing"

	"memtide/engine"
)

func TestDev(t *testing.T) {
	for _, m := range []string{"llama3-8b", "llama3.2-1b", "gpt2", "gemma-2b", "qwen3-30b-a3b", "deepseek-v3-16b", "falcon-7b","mpt-125m"} {
		for _, prog := range []string{"hf", "torchtitan", "torchtune", "megatron"} {
			for _, seq := range []string{"16", "64", "512", "4096", "32768"} {
				for _, more := range []engine.Args{{}, {"gpus": "8"}, {"lora": "16"}, {"accumulate": "2"}, {"gpus": "8", "accumulate": "4"}, {"kernel": "fused"}, {"loss": "chunked", "states": "bf16"}, {"gpus": "4", "tp": "2"}, {"optimizer": "muon"}, {"compile": "yes"}, {"gpus":"8","shard":"zero2"}, {"lora": "16", "gpus": "8"}, {"lora":"8","base":"nf4"}} {
					args := engine.Args{"program": prog, "seq": seq}
					for k, v := range more {
						args[k] = v
					}
					compare(t, m, args)
				}
			}
		}
	}
}
