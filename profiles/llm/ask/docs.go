package ask

import "strings"

// docs are the help texts of flags, one option per line, with the name of the flag's value in angle brackets.
// They are not part of Options because the page, which has no flags, is built without them.
const docs = `
batch <N> sequences of a micro batch
seq <N> tokens of a sequence
frames <N> frames of a video, or 1 of a picture, beside -side
height <N> pixels of a frame, in place of -seq
width <N> pixels of a frame; 0: as high
accumulate <N> micro batches of a step
objective <NAME> of TRL's trainer: for dpo, whose pairs are two sequences each, and grpo a frozen copy of the model runs the forward, too, unless there are adapters to switch off; without one (precomputed, or a weight of 0) it is sft
rollout <GIB> of each card that an engine for rollouts keeps beside the step, with -objective grpo
program <NAME> of what runs the step
towers of pictures or sounds train, too, and have gradients and moments; what they keep of a picture is not counted
dropout what blocks add to the stream has a dropout (Megatron's --hidden-dropout, 0.1 by its default); not for hf, where a config.json says it
attention <NAME> of attention's kernel (sdpa: what PyTorch chooses, eager: operator by operator)
kernels linear attention and state spaces run as the kernels of fla, causal_conv1d and mamba_ssm, not as Transformers' own torch code
optimizer <NAME> of the optimizer (adafactor: Transformers', without a first moment; galore: of rank 128)
states <TYPE> of weights, gradients and moments
autocast <WHEN> Transformers' modules run under torch.autocast (auto: with fp32 weights, or beside adapters; yes: with bf16 weights, too, as with the Trainer's bf16=True)
ckpt <POLICY> of checkpointing (sac_op: every second product kept)
gpus <N> cards
device <DEVICE> that each of the cards is; memtide help devices lists them
shard <HOW> states are shared (zero3: FSDP2; grad-op: weights gathered once a step; fsdp1: flat parameters), by itself zero3 on several cards
loss <NAME> of the loss
logits <WHAT> of the logits a variable keeps through the backward (kept: a loop of your own)
norm <NAME> of the norm's kernel
kernel <NAME> of the optimizer's kernel
lora <RANK> of adapters beside frozen bf16 weights; 0 trains everything
adapters <TYPE> of adapters, their gradients and moments (bf16: TRL's on frozen products in 8 or 4 bits)
dora adapters have a learned magnitude for each output, too (PEFT's use_dora); needs -lora
base <TYPE> of frozen weights of products under adapters (int8: bitsandbytes' LLM.int8; nf4-double: its scales quantised too)
kbit what is frozen beside products in 4 bits is in fp32: norms, embedding and head, as PEFT's prepare_model_for_kbit_training leaves them; it turns checkpointing on, too, which -ckpt full says
fp8 <WHAT> of the blocks' products is in 8 bits
compile blocks go through torch.compile
every each <N>-th block alone is checkpointed
first the first <N> blocks of a card alone are checkpointed; 0: all
group <N> blocks are one checkpoint; needs -ckpt full
recompute <MODULE> that -ckpt modules computes again, in Megatron's words
budget <PERCENT> of what a compiled block keeps, for -ckpt budget
graph <WHAT> the compiler sees as one graph, for -ckpt budget
stash all that blocks keep waits in host memory; needs -ckpt none
offload block inputs wait in host memory; needs -ckpt full
swap-blocks the frozen weights of <N> blocks wait in host memory (block swap); needs -lora; auto: of as few as fit
host moments and the optimizer's step are the host's
host-part <PERCENT> of the optimizer are the host's, with -host (Megatron's optimizer-offload-fraction, DeepSpeed's ratio)
host-weights a card's share of the weights waits in host memory, too; needs -host and -shard zero3 (FSDP2's CPUOffloadPolicy, DeepSpeed's offload_param)
nvme <GB/S> of drives for each card, which have what the host would have, beside DeepSpeed's buffers; 0: none
tp <N> ranks that share each product
cp <N> ranks that share each sequence
ep <N> ranks that share the experts of a block
imbalance <PERCENT> of rows that the busiest rank of experts gets beyond its share, which then bounds reserved memory; 0: not known
pp <N> ranks of a pipeline, each with some of the layers; -accumulate are its micro batches
schedule <NAME> of the order in which the ranks of a pipeline run their passes (auto: the fastest by a rule that fits)
stages <N> stages of a rank of a pipeline, where its order leaves that open
lighter <N> layers that the last stage of a pipeline has fewer, for it has the head too; the others have them
ranks the first <N> ranks of a pipeline alone are checkpointed; 0: all
context <SIZE> of CUDA's context and the collectives' buffers on each card: an assumption
`

// Doc returns the help text of an option's flag, with back quotes around the name of its value.
func Doc(option string) string {
	for line := range strings.Lines(docs) {
		if doc, ok := strings.CutPrefix(line, option+" "); ok {
			return strings.NewReplacer("<", "`", ">", "`").Replace(strings.TrimSpace(doc))
		}
	}
	return ""
}
