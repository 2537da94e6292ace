"""How many multiprocessors there are, asked for once."""

import torch

COUNT = torch.cuda.get_device_properties("cuda").multi_processor_count
